"""What can be measured of music without a model: pace, key, brightness, level, density and drums."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from musicrs_dataset.audio.cutting import Samples

RATE = 22_050  # Hz; what librosa's defaults are made for
NOTES = ("C", "C sharp", "D", "E flat", "E", "F", "F sharp", "G", "A flat", "A", "B flat", "B")

_SILENT = 10 ** (-60 / 20)
# Frames twice as far apart as librosa's, and a filter of half as many (the same 0.7 s), part drums from notes as well
# and in a quarter of the time.
_HOP = 1024
_FILTER = (15, 31)
# How well each of the twelve notes, counted from the tonic, fits a key, as listeners rated it.
# C. Krumhansl, Cognitive Foundations of Musical Pitch, 1990, p. 30.
_PROFILES = {
    "major": (6.35, 2.23, 3.48, 2.33, 4.38, 4.09, 2.52, 5.19, 2.39, 3.66, 2.29, 2.88),
    "minor": (6.33, 2.68, 3.52, 5.38, 2.60, 3.53, 2.54, 4.75, 3.98, 2.69, 3.34, 3.17),
}
# Trackers often find twice or half the tempo. Notes mostly come two to a beat, so the tempo is looked for where that
# puts it, give or take half an octave. On the toy dataset, whose tempos are known, 84 % of the clips are then within
# 5 %; where it is looked for around 120, as by default, 52 % are.
_ONSETS_PER_BEAT = 2.0
_USUAL_TEMPI = (60.0, 160.0)
_FASTEST = 220.0
_OCTAVES = 0.5


class Features(NamedTuple):
    """Measurements of a stretch of music.

    Attributes:
        tempo: Beats per minute.
        tonic: The key note, one of `NOTES`; None where no note stands out, as in a drum solo.
        mode: "major" or "minor"; None likewise.
        brightness: Mean spectral centroid in Hz, by magnitude.
        level: Root mean square in dB relative to full scale.
        density: Onsets per second.
        drums: Share of the energy that is percussive, 0 to 1.
    """

    tempo: float
    tonic: str | None
    mode: str | None
    brightness: float
    level: float
    density: float
    drums: float


def measure(samples: Samples) -> Features | None:
    """Measure a stretch of music.

    Args:
        samples: Shape (n,), mono at `RATE`; some seconds at least, for a tempo needs them.

    Returns:
        The measurements; None for silence (no sample above -60 dBFS).
    """
    import librosa

    if np.abs(samples).max(initial=0) < _SILENT:
        return None
    magnitude = np.abs(librosa.stft(samples, hop_length=_HOP))
    harmonic, percussive = librosa.decompose.hpss(magnitude, kernel_size=_FILTER)
    strength = librosa.onset.onset_strength(y=samples, sr=RATE)
    density = len(librosa.onset.onset_detect(onset_envelope=strength, sr=RATE)) * RATE / len(samples)
    expected = np.clip(60 * density / _ONSETS_PER_BEAT, *_USUAL_TEMPI)
    tempo = librosa.feature.tempo(
        onset_envelope=strength, sr=RATE, start_bpm=expected, std_bpm=_OCTAVES, max_tempo=_FASTEST
    )[0]
    tonic, mode = _key(librosa.feature.chroma_stft(S=harmonic**2, sr=RATE, tuning=0.0).mean(axis=1))
    energy, drums = np.square(magnitude).sum(), np.square(percussive).sum()
    return Features(
        tempo=float(tempo),
        tonic=tonic,
        mode=mode,
        brightness=float(librosa.feature.spectral_centroid(S=magnitude, sr=RATE).mean()),
        level=float(10 * np.log10(np.square(samples, dtype=np.float64).mean())),
        density=density,
        drums=float(drums / energy),
    )


def _key(chroma: npt.NDArray[np.floating]) -> tuple[str, str] | tuple[None, None]:
    """The key whose profile correlates best with how strong the twelve notes are, C first."""
    if np.ptp(chroma) == 0:
        return None, None
    scores = {
        (tonic, mode): float(np.corrcoef(chroma, np.roll(profile, place))[0, 1])
        for mode, profile in _PROFILES.items()
        for place, tonic in enumerate(NOTES)
    }
    return max(scores, key=lambda key: scores[key])
