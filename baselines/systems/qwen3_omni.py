"""Qwen3-Omni: the Thinker of a mixture of experts that hears, sees and speaks, asked in words.

It hears clips of any length; 13 tokens a second. What it would see and speak with is not loaded. At 58 GiB, it is the
one system here that may want more than one GPU: `--device-map auto`.

Source: Xu et al., Qwen3-Omni technical report, arXiv 2509.17765.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..audio_text.checkpoints import HELP
from ..generative.audio_limits import AudioLimits
from ..generative.families.omni import Thinker
from ..generative.families.whisper import in_chunks
from ..generative.transformers_model import LocalGenerative, LocalOptions
from ..options import option
from ..system import ALL_MODALITIES, Declaration

MODEL_ID = "Qwen/Qwen3-Omni-30B-A3B-Instruct"


class Qwen3OmniModel(Thinker):
    """The Thinker of Qwen3-Omni."""

    limits = AudioLimits(
        sampling_rate=16_000,
        context=32_768,
        tokens_per_second=13,
        tokens_per_clip=3,  # the marks around the sound, and what is begun of an eighth of a second
        weights_gib=58.1,
        cache_kib_per_token=96,
    )
    model_class = "Qwen3OmniMoeThinkerForConditionalGeneration"
    token = "<|audio_pad|>"  # noqa: S105 - no password
    clip_markers = ("<|audio_start|>", "<|audio_end|>")
    filling = "longest"
    count = staticmethod(in_chunks)


@dataclass(frozen=True)
class Qwen3OmniOptions(LocalOptions):
    """Options of `qwen3_omni`."""

    weights: str = option(MODEL_ID, HELP)


class Qwen3Omni(LocalGenerative):
    """Asks Qwen3-Omni."""

    declaration = Declaration(
        name="qwen3_omni",
        paradigm="generative",
        modalities=ALL_MODALITIES,
        reads="thread",
        description="Asks Qwen3-Omni, which hears the clips, for a ranking.",
        needs=("torch", "transformers", "accelerate", "soundfile", "soxr"),
        model_id=MODEL_ID,
        licence="Apache-2.0",
        open_weights=True,
        batch_size=1,
    )
    Options = Qwen3OmniOptions

    def make_language_model(self) -> Qwen3OmniModel:
        """Qwen3-Omni with the chosen weights."""
        return Qwen3OmniModel(self.options, self.context)
