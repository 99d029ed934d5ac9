"""The Flamingo models of NVIDIA: one piece of audio per prompt, in windows of 30 s."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..language_model import Prompt
from .whisper import WhisperLanguageModel, quartered

if TYPE_CHECKING:
    from torch import Tensor


class Flamingo(WhisperLanguageModel):
    """Writes prompts with the chat template next to the weights, which holds the system prompt.

    Attributes:
        processor_class: Class of transformers that reads the template.
    """

    token = "<sound>"  # noqa: S105 - no password
    mask = "input_features_mask"
    filling = "windows"
    count = staticmethod(quartered)
    end_tokens = ("<|im_end|>", "<|endoftext|>")
    processor_class: ClassVar[str]

    @cached_property
    def processor(self) -> Any:
        """Official processor. It writes the prompts only; `whisper` prepares the audio."""
        import transformers

        return getattr(transformers, self.processor_class).from_pretrained(self.folder)

    def encode(self, prompts: Sequence[Prompt]) -> dict[str, Tensor]:
        """Join the clips of each prompt, then encode."""
        joined = [(np.concatenate(prompt.clips),) if prompt.clips else () for prompt in prompts]
        return super().encode([Prompt(prompt.text, clips) for prompt, clips in zip(prompts, joined, strict=True)])

    def write(self, text: str, audio: str) -> str:
        """Fill the chat template: audio, then text."""
        content = [{"type": "audio"}] * bool(audio) + [{"type": "text", "text": text}]
        turns = [{"role": "user", "content": content}]
        prompt: str = self.processor.apply_chat_template(turns, add_generation_prompt=True, tokenize=False)
        return prompt.replace(self.token, audio)
