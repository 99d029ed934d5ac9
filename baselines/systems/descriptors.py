"""Descriptors: measured features of the clips, put into words and compared with the titles by a sentence encoder.

An audio baseline without an audio model. It measures six features (`baselines.audio_text.features`) and names them by
this table. A value between the two limits gets no name:

    measured                          up to              from
    beats per minute                  76    slow         120    fast
    spectral centroid, Hz             1500  dark         2500   bright
    level, dBFS                       -22   quiet        -16    loud
    onsets per second                 1.5   sparse       5      busy
    percussive share of the energy    0.03  no drums     0.1    driving drums
    key                               "in a minor key", and the mood of mode and tempo: sad (slow, minor), peaceful
                                      (slow, major), tense (fast, minor), joyful (fast, major)

76 and 120 BPM bound adagio and allegro on a metronome. The limits of the centroid are below and above the usual value
of popular music (some 2 kHz at this sampling rate), those of the level below and above the usual value of records. The
moods are those of K. Hevner, The affective value of pitch and tempo in music, Am. J. Psychology 49 (1937). Every limit
is a fixed number: nothing is learnt from other threads. The text omits the key note: transposed music is the same
music.

A clip may be "slow, dark, quiet, sparse, sad music in a minor key, no drums". From its vector (all-MiniLM-L6-v2), that
of "music in a key" is subtracted, so that the common part of all descriptions does not count. The rest is compared with
the titles.

Variants on the mini dataset, whose audio is synthesised from such descriptions (audio_only, recall@20; chance 20 %):
28 % without the subtraction, 34 % with the key note, 40 % as implemented, 46 % without the key. The limits are those
of the first version.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from musicrs_dataset.audio.cutting import Samples

from ..audio_text.dual import DualEncoder, DualOptions
from ..audio_text.features import RATE, Features, measure
from ..audio_text.model import AudioTextModel
from ..embedding.minilm_weights import HELP, MODEL_ID, find_minilm
from ..embedding.text_embedder import TextEmbedder
from ..embedding.vector_cache import Vectors
from ..options import option
from ..system import Context, Declaration

MAX_TOKENS = 256
NEUTRAL = "music in a key"
# Part of the name of cached vectors. Raise it with every change of the features or the words.
_VERSION = 1


def words(features: Features | None) -> str:
    """Describe music.

    Args:
        features: Its features; None for silence.

    Returns:
        One line in lower case; `NEUTRAL` for silence.
    """
    if features is None:
        return NEUTRAL
    tempo = _name(features.tempo, 76, "slow", 120, "fast")
    adjectives = [
        tempo,
        _name(features.brightness, 1500, "dark", 2500, "bright"),
        _name(features.level, -22, "quiet", -16, "loud"),
        _name(features.density, 1.5, "sparse", 5, "busy"),
        _MOODS.get((tempo, features.mode)),
    ]
    drums = _name(features.drums, 0.03, "no drums", 0.1, "driving drums")
    key = f"a {features.mode} key" if features.mode else "a key"
    music = f"{', '.join(filter(None, adjectives))} music in {key}".strip()
    return f"{music}, {drums}" if drums else music


_MOODS: dict[tuple[str | None, str | None], str] = {
    ("slow", "minor"): "sad",
    ("slow", "major"): "peaceful",
    ("fast", "minor"): "tense",
    ("fast", "major"): "joyful",
}


def _name(value: float, low: float, below: str, high: float, above: str) -> str | None:
    return below if value <= low else above if value >= high else None


class Describer(AudioTextModel):
    """Audio and text in the space of a sentence encoder.

    Args:
        embed: The sentence encoder.
        revision: Its revision.
    """

    window_s: ClassVar[float] = 30.0
    windows_at_once: ClassVar[int] = 1

    def __init__(self, embed: TextEmbedder, revision: str) -> None:
        self._embed, self._revision = embed, revision

    @property
    def revision(self) -> str:
        """Revision of the sentence encoder, and version of the words."""
        return f"{self._revision}, words {_VERSION}"

    @property
    def sampling_rate(self) -> int:
        """Rate of the features."""
        return RATE

    def embed_audio(self, windows: Sequence[Samples]) -> Vectors:
        """Measure, describe and embed windows. Silence is a row of zeros, equally far from all titles."""
        descriptions: Vectors = self._embed([words(measure(window)) for window in windows]) - self._embed([NEUTRAL])
        return descriptions

    def embed_text(self, texts: Sequence[str]) -> Vectors:
        """Embed texts of up to 256 tokens."""
        return self._embed(texts)


@dataclass(frozen=True)
class DescriptorsOptions(DualOptions):
    """Options of `descriptors`."""

    # To measure an hour of audio takes minutes on one core, and one minute of a thread is enough for the features.
    seconds: float = option(60.0, "most seconds of audio per thread, shared evenly by its clips")
    weights: str | None = option(None, HELP)


class Descriptors(DualEncoder):
    """Ranks by the similarity of titles to a description of the clips, or to description and query."""

    declaration = Declaration(
        name="descriptors",
        paradigm="retrieval",
        modalities=("audio_query", "audio_only"),
        reads="thread",
        description="Tempo, key, brightness, level, density and drums of the clips in words; cosine with the titles.",
        note="No audio model: the score shows how far simple measurements of the clips reach.",
        needs=("librosa", "torch", "transformers", "accelerate", "soundfile", "soxr"),
        model_id=MODEL_ID,
        licence="Apache-2.0",
        open_weights=True,
    )
    Options = DescriptorsOptions

    def __init__(self, options: DescriptorsOptions, context: Context) -> None:
        weights = find_minilm(options.weights)
        self._embed, self._revision = TextEmbedder(weights.encoder(MAX_TOKENS), context), weights.revision
        super().__init__(options, context)
        self._texts = self._embed  # shares the cache of titles with `minilm`

    def make_model(self) -> AudioTextModel:
        """Make the model of features, words and MiniLM."""
        return Describer(self._embed, self._revision)
