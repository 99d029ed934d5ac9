"""The Omni models as listeners: their Thinker, which hears and answers in words, without what sees and what speaks."""

from __future__ import annotations

from typing import Any, ClassVar

from .prompt_text import chatml
from .whisper_listener import WhisperLanguageModel


class Thinker(WhisperLanguageModel):
    """Loads the Thinker out of a checkpoint of the whole model, and lets its eyes go.

    Attributes:
        system: What the model is told of itself; None for nothing.
    """

    mask = "feature_attention_mask"
    # Eyes, which are let go, and what speaks: talker and vocoder.
    ignorable = (r"((thinker|model)\.)*visual\..*", r"(talker|token2wav|code2wav)\..*")
    end_tokens = ("<|im_end|>", "<|endoftext|>")
    system: ClassVar[str | None] = None

    def load_model(self) -> Any:
        """Load the Thinker, and free the memory of its visual encoder."""
        model = super().load_model()
        owner = model.model if hasattr(model.model, "visual") else model  # by version of transformers
        del owner.visual
        return model

    def write(self, text: str, sound: str) -> str:
        """Sound, then words."""
        return chatml(sound + text, self.system)
