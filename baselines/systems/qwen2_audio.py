"""Qwen2-Audio: a Whisper encoder before Qwen-7B, asked by prompt.

It takes 30 s of a clip, and its processor silently drops the rest. Longer clips are split beforehand. Prompt, audio and
answer share 8,192 tokens. A second of audio takes 25 tokens.

Source: Chu et al., Qwen2-Audio technical report, arXiv 2407.10759.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from ..generative.audio_limits import AudioLimits
from ..generative.families.whisper import check_length
from ..generative.language_model import Prompt
from ..generative.transformers_model import LocalGenerative, LocalOptions, TransformersModel
from ..options import with_defaults
from ..system import ALL_MODALITIES, Declaration

if TYPE_CHECKING:
    import torch

MODEL_ID = "Qwen/Qwen2-Audio-7B-Instruct"


class Qwen2AudioModel(TransformersModel):
    """Qwen2-Audio with its own processor."""

    limits = AudioLimits(
        sampling_rate=16_000,
        context=8192,
        tokens_per_second=25,
        tokens_per_clip=16,  # "Audio 10: " and two markers
        clip_limit_s=30.0,
        weights_gib=15.6,
        cache_kib_per_token=512,
    )
    model_class: ClassVar[str] = "Qwen2AudioForConditionalGeneration"
    end_tokens: ClassVar[tuple[str, ...]] = ("<|im_end|>", "<|endoftext|>")

    @property
    def differences(self) -> tuple[str, ...]:
        """The seconds of audio of each clip."""
        if self.context.modality == "query_only":
            return ()
        return (
            "audio: clips of more than 30 s are split and used whole, on the published data 262 s per thread; the "
            "processor of the published run kept 30 s of each, 79 s per thread",
        )

    def encode(self, prompts: Sequence[Prompt]) -> dict[str, torch.Tensor]:
        """Encode prompts as chats: numbered clips, then the request."""
        texts = [self._chat(prompt) for prompt in prompts]
        clips = [clip for prompt in prompts for clip in prompt.clips]
        rate = self.limits.sampling_rate
        check_length(clips, self._processor.feature_extractor)
        audio = {"audio": clips, "sampling_rate": rate} if clips else {}
        return dict(self._processor(text=texts, **audio, return_tensors="pt", padding=True, padding_side="left"))

    @cached_property
    def tokenizer(self) -> Any:
        """Tokenizer of the processor."""
        return self._processor.tokenizer

    @cached_property
    def _processor(self) -> Any:
        from transformers import AutoProcessor

        return AutoProcessor.from_pretrained(self.folder)

    def _chat(self, prompt: Prompt) -> str:
        content = [*[{"type": "audio", "audio": None}] * len(prompt.clips), {"type": "text", "text": prompt.text}]
        turns = [{"role": "user", "content": content}]
        text: str = self._processor.apply_chat_template(turns, add_generation_prompt=True, tokenize=False)
        return text


class Qwen2Audio(LocalGenerative):
    """Asks Qwen2-Audio."""

    declaration = Declaration(
        name="qwen2_audio",
        paradigm="generative",
        modalities=ALL_MODALITIES,
        reads="thread",
        description="Asks Qwen2-Audio, with the clips, for a ranking.",
        needs=("torch", "transformers", "accelerate", "soundfile", "soxr"),
        model_id=MODEL_ID,
        licence="Apache-2.0",
        open_weights=True,
        batch_size=1,
    )
    Options = with_defaults(LocalOptions, weights=MODEL_ID)
    Model = Qwen2AudioModel
