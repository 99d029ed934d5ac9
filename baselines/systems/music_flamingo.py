"""Music Flamingo: Audio Flamingo 3 trained further on music, with a sense of time, asked by prompt.

It takes one piece of audio per prompt, of up to twenty minutes. The clips of a thread are joined into one.

Source: Ghosh et al., Music Flamingo, arXiv 2511.10289.
"""

from __future__ import annotations

from ..generative.audio_limits import AudioLimits
from ..generative.families.flamingo import Flamingo
from ..generative.transformers_model import LocalGenerative, LocalOptions
from ..options import with_defaults
from ..system import ALL_MODALITIES, Declaration

MODEL_ID = "nvidia/music-flamingo-2601-hf"


class MusicFlamingoModel(Flamingo):
    """Music Flamingo."""

    limits = AudioLimits(
        sampling_rate=16_000,
        context=32_768,  # of Qwen2.5-7B, its language model
        tokens_per_second=25,
        tokens_per_clip=2,
        clip_limit_s=1200.0,
        several_clips=False,
        template_tokens=160,  # its system prompt is long
        silence_s=1.0,
        weights_gib=15.4,
        cache_kib_per_token=56,
    )
    model_class = "MusicFlamingoForConditionalGeneration"
    processor_class = "MusicFlamingoProcessor"
    clip_markers = ("<|sound_bos|>", "<|sound_eos|>")


class MusicFlamingo(LocalGenerative):
    """Asks Music Flamingo."""

    declaration = Declaration(
        name="music_flamingo",
        paradigm="generative",
        modalities=ALL_MODALITIES,
        reads="thread",
        description="Asks Music Flamingo for a ranking; it takes the clips joined into one.",
        note="For non-commercial use only. In query_only, the protocol titles gives it a second of silence.",
        needs=("torch", "transformers", "accelerate", "soundfile", "soxr"),
        model_id=MODEL_ID,
        licence="NVIDIA OneWay Noncommercial License",
        open_weights=True,
        batch_size=1,
    )
    Options = with_defaults(LocalOptions, weights=MODEL_ID)
    Model = MusicFlamingoModel
