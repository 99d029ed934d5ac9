"""Audio Flamingo 3: a Whisper encoder trained for all sounds before Qwen2.5-7B, asked in words.

It takes one piece of sound a prompt, of up to ten minutes; a thread's clips are joined into one.

Source: Goel et al., Audio Flamingo 3, arXiv 2507.08128.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..audio_text.checkpoints import HELP
from ..generative.audio_limits import AudioLimits
from ..generative.families.flamingo import Flamingo
from ..generative.transformers_model import LocalGenerative, LocalOptions
from ..options import option
from ..system import ALL_MODALITIES, Declaration

MODEL_ID = "nvidia/audio-flamingo-3-hf"


class AudioFlamingo3Model(Flamingo):
    """Audio Flamingo 3."""

    limits = AudioLimits(
        sampling_rate=16_000,
        context=32_768,  # of Qwen2.5-7B, which thinks in it
        tokens_per_second=25,
        clip_limit_s=600.0,
        several_clips=False,
        silence_s=1.0,
        weights_gib=15.4,
        cache_kib_per_token=56,
    )
    model_class = "AudioFlamingo3ForConditionalGeneration"
    processor_class = "AudioFlamingo3Processor"


@dataclass(frozen=True)
class AudioFlamingo3Options(LocalOptions):
    """Options of `audio_flamingo3`."""

    weights: str = option(MODEL_ID, HELP)


class AudioFlamingo3(LocalGenerative):
    """Asks Audio Flamingo 3."""

    declaration = Declaration(
        name="audio_flamingo3",
        paradigm="generative",
        modalities=ALL_MODALITIES,
        reads="thread",
        description="Asks Audio Flamingo 3, which hears the clips joined into one, for a ranking.",
        note="For non-commercial use only. In query_only, the protocol titles gives it a second of silence.",
        needs=("torch", "transformers", "accelerate", "soundfile", "soxr"),
        model_id=MODEL_ID,
        licence="NVIDIA OneWay Noncommercial License",
        open_weights=True,
        batch_size=1,
    )
    Options = AudioFlamingo3Options

    def make_language_model(self) -> AudioFlamingo3Model:
        """Audio Flamingo 3 with the chosen weights."""
        return AudioFlamingo3Model(self.options, self.context)
