"""Qwen2.5-Omni: the Thinker of a model that hears, sees and speaks, asked in words.

It hears 300 s of a clip and drops the rest in silence. What it would see and speak with is not loaded.

Source: Xu et al., Qwen2.5-Omni technical report, arXiv 2503.20215.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..audio_text.checkpoints import HELP
from ..generative.audio_limits import AudioLimits
from ..generative.families.omni import Thinker
from ..generative.families.whisper import quartered
from ..generative.transformers_model import LocalGenerative, LocalOptions
from ..options import option
from ..system import ALL_MODALITIES, Declaration

MODEL_ID = "Qwen/Qwen2.5-Omni-7B"


class Qwen25OmniModel(Thinker):
    """The Thinker of Qwen2.5-Omni."""

    limits = AudioLimits(
        sampling_rate=16_000,
        context=32_768,  # of Qwen2.5-7B, which thinks in it
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
    # What transformers' `generate` makes of the 512 tokens that the published run asked for.
    published_tokens = 1024
    # What its own chat template says where nobody says anything else.
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


@dataclass(frozen=True)
class Qwen25OmniOptions(LocalOptions):
    """Options of `qwen2_5_omni`."""

    weights: str = option(MODEL_ID, HELP)


class Qwen25Omni(LocalGenerative):
    """Asks Qwen2.5-Omni."""

    declaration = Declaration(
        name="qwen2_5_omni",
        paradigm="generative",
        modalities=ALL_MODALITIES,
        reads="thread",
        description="Asks Qwen2.5-Omni, which hears the clips, for a ranking.",
        needs=("torch", "transformers", "accelerate", "soundfile", "soxr"),
        model_id=MODEL_ID,
        licence="Apache-2.0",
        open_weights=True,
        batch_size=1,
    )
    Options = Qwen25OmniOptions

    def make_language_model(self) -> Qwen25OmniModel:
        """Qwen2.5-Omni with the chosen weights."""
        return Qwen25OmniModel(self.options, self.context)
