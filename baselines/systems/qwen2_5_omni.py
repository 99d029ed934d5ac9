"""Qwen2.5-Omni: the Thinker of a model of audio, images and speech, asked by prompt.

It takes 300 s of a clip and silently drops the rest. Its parts for images and speech are not loaded.

Source: Xu et al., Qwen2.5-Omni technical report, arXiv 2503.20215.
"""

from __future__ import annotations

from ..generative.audio_limits import AudioLimits
from ..generative.families.omni import Thinker
from ..generative.families.whisper import quartered
from ..generative.transformers_model import LocalGenerative, LocalOptions
from ..options import with_defaults
from ..system import ALL_MODALITIES, Declaration

MODEL_ID = "Qwen/Qwen2.5-Omni-7B"


class Qwen25OmniModel(Thinker):
    """The Thinker of Qwen2.5-Omni."""

    limits = AudioLimits(
        sampling_rate=16_000,
        context=32_768,  # of Qwen2.5-7B, its language model
        tokens_per_second=25,
        tokens_per_clip=2,
        clip_limit_s=300.0,
        weights_gib=15.4,
        cache_kib_per_token=56,
    )
    model_class = "Qwen2_5OmniThinkerForConditionalGeneration"
    token = "<|AUDIO|>"  # noqa: S105 - no password
    clip_markers = ("<|audio_bos|>", "<|audio_eos|>")
    filling = "beyond"
    count = staticmethod(quartered)
    # The published run asked for 512 tokens; `generate` of transformers made 1,024 of it.
    published_tokens = 1024
    # Default of its own chat template.
    system = "You are a helpful assistant."

    @property
    def differences(self) -> tuple[str, ...]:
        """The length of answers."""
        if self.options.answer_tokens == self.published_tokens:
            return ()
        return (
            f"answers: at most {self.options.answer_tokens or 512} new tokens; the published run had 1,024, for "
            "transformers overrides the 512 of its script (--answer-tokens 1024)",
        )


class Qwen25Omni(LocalGenerative):
    """Asks Qwen2.5-Omni."""

    declaration = Declaration(
        name="qwen2_5_omni",
        paradigm="generative",
        modalities=ALL_MODALITIES,
        reads="thread",
        description="Asks Qwen2.5-Omni, with the clips, for a ranking.",
        needs=("torch", "transformers", "accelerate", "soundfile", "soxr"),
        model_id=MODEL_ID,
        licence="Apache-2.0",
        open_weights=True,
        batch_size=1,
    )
    Options = with_defaults(LocalOptions, weights=MODEL_ID)
    Model = Qwen25OmniModel
