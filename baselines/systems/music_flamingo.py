"""Music Flamingo: Audio Flamingo 3 trained further on music, with a sense of time, asked in words.

It takes one piece of sound a prompt, of up to twenty minutes; a thread's clips are joined into one.

Source: Ghosh et al., Music Flamingo, arXiv 2511.10289.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..audio_text.checkpoints import HELP
from ..generative.audio_limits import AudioLimits
from ..generative.families.flamingo import Flamingo
from ..generative.transformers_model import LocalGenerative, LocalOptions
from ..options import option
from ..system import ALL_MODALITIES, Declaration

MODEL_ID = "nvidia/music-flamingo-2601-hf"


class MusicFlamingoModel(Flamingo):
    """Music Flamingo."""

    limits = AudioLimits(
        sampling_rate=16_000,
        context=32_768,  # of Qwen2.5-7B, which thinks in it
        tokens_per_second=25,
        tokens_per_clip=2,
        clip_limit_s=1200.0,
        several_clips=False,
        template_tokens=160,  # it is told at length what it is
        silence_s=1.0,
        weights_gib=15.4,
        cache_kib_per_token=56,
    )
    model_class = "MusicFlamingoForConditionalGeneration"
    processor_class = "MusicFlamingoProcessor"
    clip_markers = ("<|sound_bos|>", "<|sound_eos|>")


@dataclass(frozen=True)
class MusicFlamingoOptions(LocalOptions):
    """Options of `music_flamingo`."""

    weights: str = option(MODEL_ID, HELP)


class MusicFlamingo(LocalGenerative):
    """Asks Music Flamingo."""

    declaration = Declaration(
        name="music_flamingo",
        paradigm="generative",
        modalities=ALL_MODALITIES,
        reads="thread",
        description="Asks Music Flamingo, which hears the clips joined into one, for a ranking.",
        note="For non-commercial use only. In query_only, the protocol titles gives it a second of silence.",
        needs=("torch", "transformers", "accelerate", "soundfile", "soxr"),
        model_id=MODEL_ID,
        licence="NVIDIA OneWay Noncommercial License",
        open_weights=True,
        batch_size=1,
    )
    Options = MusicFlamingoOptions

    def make_language_model(self) -> MusicFlamingoModel:
        """Music Flamingo with the chosen weights."""
        return MusicFlamingoModel(self.options, self.context)
