"""Qwen3-Omni: the Thinker of a mixture of experts for audio, images and speech, asked by prompt.

It takes clips of any length, at 13 tokens per second. Its parts for images and speech are not loaded. With 58 GiB it is
the only system here that may need more than one GPU: `--device-map auto`.

Source: Xu et al., Qwen3-Omni technical report, arXiv 2509.17765.
"""

from __future__ import annotations

from ..generative.audio_limits import AudioLimits
from ..generative.families.omni import Thinker
from ..generative.families.whisper import in_chunks
from ..generative.transformers_model import LocalGenerative, LocalOptions
from ..options import with_defaults
from ..system import ALL_MODALITIES, Declaration

MODEL_ID = "Qwen/Qwen3-Omni-30B-A3B-Instruct"


class Qwen3OmniModel(Thinker):
    """The Thinker of Qwen3-Omni."""

    limits = AudioLimits(
        sampling_rate=16_000,
        context=32_768,
        tokens_per_second=13,
        tokens_per_clip=3,  # two markers, and one for a started eighth of a second
        weights_gib=58.1,
        cache_kib_per_token=96,
    )
    model_class = "Qwen3OmniMoeThinkerForConditionalGeneration"
    token = "<|audio_pad|>"  # noqa: S105 - no password
    clip_markers = ("<|audio_start|>", "<|audio_end|>")
    filling = "longest"
    count = staticmethod(in_chunks)


class Qwen3Omni(LocalGenerative):
    """Asks Qwen3-Omni."""

    declaration = Declaration(
        name="qwen3_omni",
        paradigm="generative",
        modalities=ALL_MODALITIES,
        reads="thread",
        description="Asks Qwen3-Omni, with the clips, for a ranking.",
        needs=("torch", "transformers", "accelerate", "soundfile", "soxr"),
        model_id=MODEL_ID,
        licence="Apache-2.0",
        open_weights=True,
        batch_size=1,
    )
    Options = with_defaults(LocalOptions, weights=MODEL_ID)
    Model = Qwen3OmniModel
