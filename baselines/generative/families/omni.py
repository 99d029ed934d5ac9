"""The Omni models of Qwen: only their Thinker, which takes audio and text and writes text."""

from __future__ import annotations

from typing import Any, ClassVar

from .prompt_text import chatml
from .whisper import WhisperLanguageModel


class Thinker(WhisperLanguageModel):
    """The Thinker of an Omni model. Qwen calls its language model so; Talker and vocoder speak, and are not loaded.

    Attributes:
        system: System prompt; None for none.
    """

    mask = "feature_attention_mask"
    # The visual encoder, which is freed after loading, the talker and the vocoder.
    ignorable = (r"((thinker|model)\.)*visual\..*", r"(talker|token2wav|code2wav)\..*")
    end_tokens = ("<|im_end|>", "<|endoftext|>")
    system: ClassVar[str | None] = None

    def load_model(self) -> Any:
        """Load the Thinker, and free the memory of its visual encoder."""
        model = super().load_model()
        owner = model.model if hasattr(model.model, "visual") else model  # by version of transformers
        del owner.visual
        return model

    def write(self, text: str, audio: str) -> str:
        """Write a ChatML prompt: audio, then text."""
        return chatml(audio + text, self.system)
