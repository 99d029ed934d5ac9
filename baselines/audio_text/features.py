"""Features of music that need no model: tempo, key, brightness, level, density and drums."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from musicrs_dataset.audio.cutting import Samples

RATE = 22_050  # Hz; the defaults of librosa are made for this rate
NOTES = ("C", "C sharp", "D", "E flat", "E", "F", "F sharp", "G", "A flat", "A", "B flat", "B")

_SILENT = 10 ** (-60 / 20)
# Frames twice as far apart as those of librosa, and a filter of half as many (the same 0.7 s), separate drums from
# notes equally well in a quarter of the time.
_HOP = 1024
_FILTER = (15, 31)
# Fit of each of the twelve notes, counted from the tonic, to a key, as rated by listeners.
# C. Krumhansl, Cognitive Foundations of Musical Pitch, 1990, p. 30.
_PROFILES = {
    "major": (6.35, 2.23, 3.48, 2.33, 4.38, 4.09, 2.52, 5.19, 2.39, 3.66, 2.29, 2.88),
    "minor": (6.33, 2.68, 3.52, 5.38, 2.60, 3.53, 2.54, 4.75, 3.98, 2.69, 3.34, 3.17),
}
# Trackers often find twice or half the tempo. Most music has two notes per beat, so the search starts at this tempo,
# plus or minus half an octave. On the mini dataset, whose tempos are known, 84 % of the clips are then within 5 %. With
# a search around 120, the default, 52 % are.
_ONSETS_PER_BEAT = 2.0
_USUAL_TEMPI = (60.0, 160.0)
_FASTEST = 220.0
_OCTAVES = 0.5


class Features(NamedTuple):
    """Features of a piece of audio.

    Attributes:
        tempo: Beats per minute.
        tonic: The key note, one of `NOTES`; None if no note dominates, as in a drum solo.
        mode: "major" or "minor"; None if `tonic` is None.
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
    """Measure the features of a piece of audio.

    Args:
        samples: Shape (n,), mono at `RATE`. The tempo needs some seconds.

    Returns:
        The features; None for silence (no sample above -60 dBFS).
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
    """Return the key whose profile correlates best with the strength of the twelve notes, from C."""
    if np.ptp(chroma) == 0:
        return None, None
    scores = {
        (tonic, mode): float(np.corrcoef(chroma, np.roll(profile, shift))[0, 1])
        for mode, profile in _PROFILES.items()
        for shift, tonic in enumerate(NOTES)
    }
    return max(scores, key=lambda key: scores[key])
