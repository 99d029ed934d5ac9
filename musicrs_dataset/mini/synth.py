"""A small synthesiser in numpy: from the description of a sound to some ten seconds of it.

Chords, bass, melody and drums on one grid of beats. It makes no claim to beauty; it makes clips whose tempo, mode,
density and brightness are known, because they were put in.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .sound import Sound, Timbre

SAMPLE_RATE = 48_000

Wave = npt.NDArray[np.float64]


class Voice(NamedTuple):
    """How a timbre is made.

    Attributes:
        rolloff: Harmonic n sounds at n**-rolloff.
        attack: Seconds until the note is at its full level.
        decay: Seconds until it has fallen to 1/e; infinite where it is held.
        detune: Relative distance of a second, chorusing oscillator; 0 for none.
        drive: Gain into a soft clipper for the whole band; 0 for none.
    """

    rolloff: float
    attack: float
    decay: float
    detune: float = 0.0
    drive: float = 0.0


VOICES: dict[Timbre, Voice] = {
    "pad": Voice(2.0, 0.5, np.inf, detune=0.004),
    "strings": Voice(1.3, 0.2, np.inf, detune=0.006),
    "organ": Voice(1.0, 0.02, np.inf),
    "brass": Voice(0.9, 0.04, 1.5),
    "synth": Voice(1.0, 0.005, 0.5, detune=0.008),
    "distorted": Voice(1.0, 0.005, 2.0, drive=6.0),
    "piano": Voice(1.7, 0.003, 0.7),
    "pluck": Voice(1.3, 0.002, 0.3),
}
BASS = Voice(2.0, 0.005, 0.8)

TRIADS = {"major": (0, 4, 7, 12), "minor": (0, 3, 7, 12)}
PROGRESSION = (0, 5, 0, 7)  # I, IV, I, V: semitones above the tonic


def synthesise(sound: Sound, seed: str) -> Wave:
    """Play a sound.

    Args:
        sound: What to play.
        seed: Chooses key, melody and noise; the same sound and seed give the same samples.

    Returns:
        Samples in [-1, 1] at `SAMPLE_RATE`, shape (seconds * SAMPLE_RATE,), mono.
    """
    rng = np.random.default_rng(int.from_bytes(sha256(seed.encode()).digest()[:8], "big"))
    n_samples = round(sound.seconds * SAMPLE_RATE)
    voice = VOICES[sound.timbre]
    band = _chords(sound, voice, n_samples, tonic := 45 + int(rng.integers(12)))
    band += _bass(sound, n_samples, tonic)
    band += _melody(sound, voice, n_samples, tonic, rng)
    if voice.drive:
        band = np.tanh(voice.drive * band)
    track = band / np.sqrt(np.mean(band**2)) + sound.drums * _drums(sound, n_samples, rng)
    fade = np.minimum(1.0, np.arange(n_samples) / (0.02 * SAMPLE_RATE))
    return _level(_tilt(track * fade * fade[::-1], sound.brightness), sound)


def flac(samples: Wave) -> bytes:
    """Encode mono samples at `SAMPLE_RATE` as a 16-bit FLAC file."""
    import soundfile

    file = io.BytesIO()
    soundfile.write(file, samples, SAMPLE_RATE, format="FLAC", subtype="PCM_16")
    return file.getvalue()


def _chords(sound: Sound, voice: Voice, n_samples: int, tonic: int) -> Wave:
    span = _chord_beats(sound)
    every = span if sound.density < 0.3 else 1.0 if sound.density < 0.7 else 0.5
    notes = TRIADS[sound.mode][: 3 if sound.density < 0.6 else 4]
    track = np.zeros(n_samples)
    for beat in np.arange(0, _n_beats(sound), every):
        root = tonic + _register(sound) + PROGRESSION[int(beat // span) % 4]
        for note in notes:
            _add(track, _note(voice, root + note, every * 60 / sound.tempo), beat, sound)
    return 0.3 * track


def _bass(sound: Sound, n_samples: int, tonic: int) -> Wave:
    span = _chord_beats(sound)
    every = span if sound.density < 0.3 else 1.0
    track = np.zeros(n_samples)
    for beat in np.arange(0, _n_beats(sound), every):
        _add(track, _note(BASS, tonic - 12 + PROGRESSION[int(beat // span) % 4], every * 60 / sound.tempo), beat, sound)
    return 0.5 * track


def _melody(sound: Sound, voice: Voice, n_samples: int, tonic: int, rng: np.random.Generator) -> Wave:
    span, every = _chord_beats(sound), 1 / _notes_per_beat(sound)
    track = np.zeros(n_samples)
    for beat in np.arange(0, _n_beats(sound), every):
        root = tonic + _register(sound) + 12 + PROGRESSION[int(beat // span) % 4]
        _add(track, _note(voice, root + int(rng.choice(TRIADS[sound.mode])), every * 60 / sound.tempo), beat, sound)
    return 0.5 * track


def _drums(sound: Sound, n_samples: int, rng: np.random.Generator) -> Wave:
    time = np.arange(round(0.3 * SAMPLE_RATE)) / SAMPLE_RATE
    noise = rng.standard_normal(len(time))
    kick = 4.0 * np.sin(2 * np.pi * (48 * time + 3 * (1 - np.exp(-time / 0.03)))) * np.exp(-time / 0.09)
    snare = 1.5 * noise * np.exp(-time / 0.06)
    hat = np.diff(noise, prepend=0.0) * np.exp(-time / 0.02)
    track = np.zeros(n_samples)
    for beat in range(_n_beats(sound)):
        _add(track, kick, beat, sound)
        if sound.density >= 0.3 and beat % 2:
            _add(track, snare, beat, sound)
    for beat in np.arange(0, _n_beats(sound), 1 / _notes_per_beat(sound)):
        _add(track, 0.5 * hat, beat, sound)
    return track


def _tilt(track: Wave, centroid: float) -> Wave:
    """Tilt the spectrum by a power of the frequency, so that its power-weighted centroid comes to lie at `centroid`."""
    spectrum = np.fft.rfft(track)
    frequency = np.fft.rfftfreq(len(track), 1 / SAMPLE_RATE)
    spectrum[frequency < 30] = 0
    octave = np.log2(np.maximum(frequency, 30) / 1000)
    # Bands of 1/24 octave stand in for the bins while the exponent is sought.
    power = np.abs(spectrum) ** 2
    band = ((octave - octave[0]) * 24).astype(np.int64)
    band_power = np.bincount(band, power)
    band_octave = np.bincount(band, power * octave) / np.maximum(band_power, 1e-300)
    low, high = -4.0, 4.0
    for _ in range(40):
        slope = (low + high) / 2
        tilted = band_power * 4.0 ** (slope * band_octave)
        if (tilted * 1000 * 2.0**band_octave).sum() < centroid * tilted.sum():
            low = slope
        else:
            high = slope
    return np.fft.irfft(spectrum * 2.0 ** (slope * octave), len(track))


def _level(track: Wave, sound: Sound) -> Wave:
    """Bring to the loudness that goes with density and drums, short of clipping."""
    loudness = 0.04 + 0.16 * max(sound.density, sound.drums)
    return track * min(loudness / np.sqrt(np.mean(track**2)), 0.95 / np.abs(track).max())


@lru_cache(maxsize=256)
def _note(voice: Voice, pitch: int, seconds: float) -> Wave:
    """One note of a MIDI pitch, with a short release."""
    frequency = 440 * 2 ** ((pitch - 69) / 12)
    time = np.arange(int(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    table = _wavetable(voice.rolloff, min(24, int(10_000 / frequency)))
    wave = _read(table, frequency * time)
    if voice.detune:
        wave = (wave + _read(table, frequency * (1 + voice.detune) * time)) / 2
    envelope = np.minimum(1, time / voice.attack) * np.minimum(1, (seconds - time) / 0.02)
    return wave * envelope * np.exp(-time / voice.decay)


@lru_cache(maxsize=64)
def _wavetable(rolloff: float, n_harmonics: int) -> Wave:
    phase = np.arange(1 << 14) / (1 << 14)
    harmonic = np.arange(1, n_harmonics + 1)[:, None]
    return (np.sin(2 * np.pi * harmonic * phase) * harmonic**-rolloff).sum(axis=0)


def _read(table: Wave, phase: Wave) -> Wave:
    return table[(phase * len(table)).astype(np.int64) % len(table)]


def _add(track: Wave, wave: Wave, beat: float, sound: Sound) -> None:
    start = round(beat * 60 / sound.tempo * SAMPLE_RATE)
    stretch = track[start : start + len(wave)]
    stretch += wave[: len(stretch)]


def _n_beats(sound: Sound) -> int:
    return int(np.ceil(sound.seconds * sound.tempo / 60))


def _chord_beats(sound: Sound) -> int:
    """How long a chord stays: about two seconds."""
    return 4 if sound.tempo > 90 else 2


def _notes_per_beat(sound: Sound) -> float:
    return 0.5 if sound.density < 0.2 else 1 if sound.density < 0.5 else 2 if sound.density < 0.8 else 4


def _register(sound: Sound) -> int:
    return 0 if sound.brightness < 700 else 12
