"""Audio Flamingo 3: an audio encoder based on Whisper before Qwen2.5-7B, asked by prompt.

It takes one piece of audio per prompt, of up to ten minutes. The clips of a thread are joined into one.

Source: Goel et al., Audio Flamingo 3, arXiv 2507.08128.
"""

from __future__ import annotations

from ..generative.audio_limits import AudioLimits
from ..generative.families.flamingo import Flamingo
from ..generative.transformers_model import LocalGenerative, LocalOptions
from ..options import with_defaults
from ..system import ALL_MODALITIES, Declaration

MODEL_ID = "nvidia/audio-flamingo-3-hf"


class AudioFlamingo3Model(Flamingo):
    """Audio Flamingo 3."""

    limits = AudioLimits(
        sampling_rate=16_000,
        context=32_768,  # of Qwen2.5-7B, its language model
        tokens_per_second=25,
        clip_limit_s=600.0,
        several_clips=False,
        silence_s=1.0,
        weights_gib=15.4,
        cache_kib_per_token=56,
    )
    model_class = "AudioFlamingo3ForConditionalGeneration"
    processor_class = "AudioFlamingo3Processor"


class AudioFlamingo3(LocalGenerative):
    """Asks Audio Flamingo 3."""

    declaration = Declaration(
        name="audio_flamingo3",
        paradigm="generative",
        modalities=ALL_MODALITIES,
        reads="thread",
        description="Asks Audio Flamingo 3 for a ranking; it takes the clips joined into one.",
        note="For non-commercial use only. In query_only, the protocol titles gives it a second of silence.",
        needs=("torch", "transformers", "accelerate", "soundfile", "soxr"),
        model_id=MODEL_ID,
        licence="NVIDIA OneWay Noncommercial License",
        open_weights=True,
        batch_size=1,
    )
    Options = with_defaults(LocalOptions, weights=MODEL_ID)
    Model = AudioFlamingo3Model
