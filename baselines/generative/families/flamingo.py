"""The Flamingo models of NVIDIA as listeners: one piece of sound a prompt, in windows of 30 s."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..language_model import Prompt
from .whisper import quartered
from .whisper_listener import WhisperLanguageModel

if TYPE_CHECKING:
    from torch import Tensor


class Flamingo(WhisperLanguageModel):
    """Writes prompts by the chat template beside the weights, which holds what the model is told of itself.

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
        """The official processor; it writes the prompts, and prepares no sound: see `whisper`."""
        import transformers

        return getattr(transformers, self.processor_class).from_pretrained(self.folder)

    def encode(self, prompts: Sequence[Prompt]) -> dict[str, Tensor]:
        """As others do, with the clips of a prompt joined."""
        joined = [(np.concatenate(prompt.clips),) if prompt.clips else () for prompt in prompts]
        return super().encode([Prompt(prompt.text, clips) for prompt, clips in zip(prompts, joined, strict=True)])

    def write(self, text: str, sound: str) -> str:
        """As the template has it: sound, then words."""
        content = [{"type": "audio"}] * bool(sound) + [{"type": "text", "text": text}]
        turns = [{"role": "user", "content": content}]
        written: str = self.processor.apply_chat_template(turns, add_generation_prompt=True, tokenize=False)
        return written.replace(self.token, sound)
