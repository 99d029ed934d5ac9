"""Small synthesiser in numpy: about ten seconds of audio from a description.

It plays chords, bass, melody and drums on one grid of beats. The tempo, mode, density and brightness of each clip are
known, because the description sets them.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

SAMPLE_RATE = 48_000

Mode = Literal["major", "minor"]
Timbre = Literal["pad", "strings", "organ", "brass", "synth", "distorted", "piano", "pluck"]

Wave = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Sound:
    """Description that a clip is synthesised from.

    Attributes:
        tempo: Beats per minute.
        mode: Mode of the key.
        timbre: Timbre of chords and melody.
        density: 0 (a few long notes) to 1 (four notes per beat, full chords).
        brightness: Spectral centroid of the whole clip, weighted by power, in Hz.
        drums: Level of the drums, 0 (none) to 1.
        seconds: Duration in seconds.
    """

    tempo: float
    mode: Mode
    timbre: Timbre
    density: float
    brightness: float
    drums: float
    seconds: float = 10.0

    def performance(self, seed: str) -> Sound:
        """Return one recording in this style: tempo within 4 %, brightness within 10 %, 8 to 12 s, chosen by `seed`."""
        tempo, brightness, seconds = (byte / 255 for byte in sha256(seed.encode()).digest()[:3])
        return replace(
            self,
            tempo=round(self.tempo * (0.96 + 0.08 * tempo), 1),
            brightness=round(self.brightness * (0.9 + 0.2 * brightness)),
            seconds=8 + round(8 * seconds) / 2,
        )


class Voice(NamedTuple):
    """Parameters of a timbre.

    Attributes:
        rolloff: Harmonic n has the level n**-rolloff.
        attack: Seconds until a note reaches its full level.
        decay: Seconds until the level falls to 1/e; infinite for held notes.
        detune: Relative distance of a second, chorusing oscillator; 0 for none.
        drive: Gain into a soft clipper for the whole band; 0 for none.
    """

    rolloff: float
    attack: float
    decay: float
    detune: float = 0.0
    drive: float = 0.0


VOICES: dict[Timbre, Voice] = {
    "pad": Voice(2.0, 0.5, np.inf, detune=0.001),
    "strings": Voice(1.3, 0.2, np.inf, detune=0.0015),
    "organ": Voice(1.0, 0.02, np.inf),
    "brass": Voice(0.9, 0.04, 1.5),
    "synth": Voice(1.0, 0.005, 0.5, detune=0.003),
    "distorted": Voice(1.0, 0.005, 2.0, drive=1.5),
    "piano": Voice(1.7, 0.003, 0.7),
    "pluck": Voice(1.3, 0.002, 0.3),
}
BASS = Voice(2.0, 0.005, 0.8)

TRIADS: dict[Mode, tuple[int, ...]] = {"major": (0, 4, 7, 12), "minor": (0, 3, 7, 12)}
PROGRESSION = (0, 5, 0, 7)  # I, IV, I, V: semitones above the tonic


def synthesise(sound: Sound, seed: str) -> Wave:
    """Synthesise a sound.

    Args:
        sound: Description of the sound.
        seed: Chooses key, melody and noise. On one machine, the same sound and seed give the same samples.

    Returns:
        Samples in [-1, 1] at `SAMPLE_RATE`, shape (seconds * SAMPLE_RATE,), mono.
    """
    rng = np.random.default_rng(int.from_bytes(sha256(seed.encode()).digest()))
    band, drums = _Track(sound), _Track(sound)
    _play_band(band, sound, rng)
    _play_drums(drums, sound, rng)
    drive = VOICES[sound.timbre].drive
    pitched = np.tanh(drive * band.samples) if drive else band.samples
    mix = pitched / _loudness(pitched) + sound.drums * drums.samples
    fade = np.minimum(1, np.arange(len(mix)) / (0.02 * SAMPLE_RATE))
    shaped = _shape_spectrum(mix * fade * fade[::-1], sound.brightness)
    target = 0.04 + 0.16 * max(sound.density, sound.drums)
    return shaped * min(target / _loudness(shaped), 0.95 / float(np.abs(shaped).max()))


def flac(samples: Wave) -> bytes:
    """Encode mono samples at `SAMPLE_RATE` as a 16-bit FLAC file; raises `UserError` if soundfile is missing."""
    from ..audio.decoding import require

    require("clips of the mini dataset need", "soundfile")
    import soundfile

    file = io.BytesIO()
    soundfile.write(file, samples, SAMPLE_RATE, format="FLAC", subtype="PCM_16")
    return file.getvalue()


class _Track:
    """Track of the length of a sound; waves are added at its beats."""

    def __init__(self, sound: Sound) -> None:
        self.samples = np.zeros(round(sound.seconds * SAMPLE_RATE))
        self.beat_s = 60 / sound.tempo

    def beats(self, every: float = 1.0) -> Iterator[float]:
        """Yield times from the start to the end, in beats."""
        yield from np.arange(0, len(self.samples) / SAMPLE_RATE / self.beat_s, every).tolist()

    def add(self, wave: Wave, beat: float) -> None:
        stretch = self.samples[round(beat * self.beat_s * SAMPLE_RATE) :][: len(wave)]
        stretch += wave[: len(stretch)]


def _play_band(track: _Track, sound: Sound, rng: np.random.Generator) -> None:
    voice, triad = VOICES[sound.timbre], TRIADS[sound.mode]
    tonic = 45 + int(rng.integers(12))
    chords = tonic if sound.brightness < 700 else tonic + 12
    bar = 4 if sound.tempo > 90 else 2  # a chord lasts about two seconds
    strum = bar if sound.density < 0.3 else 1 if sound.density < 0.7 else 0.5
    for beat in track.beats(strum):
        root = chords + PROGRESSION[int(beat // bar) % len(PROGRESSION)]
        for step in triad[: 3 if sound.density < 0.6 else 4]:
            track.add(0.3 * _note(voice, root + step, strum * track.beat_s), beat)
    # The bass stays on the tonic and the melody in its triad: over I, IV and V alone, minor is easily taken for major.
    pulse = bar if sound.density < 0.3 else 1
    for beat in track.beats(pulse):
        track.add(0.5 * _note(BASS, tonic - 12, pulse * track.beat_s), beat)
    step_beats = 1 / _notes_per_beat(sound)
    for beat in track.beats(step_beats):
        track.add(0.5 * _note(voice, chords + 12 + int(rng.choice(triad)), step_beats * track.beat_s), beat)


def _play_drums(track: _Track, sound: Sound, rng: np.random.Generator) -> None:
    time = np.arange(round(0.3 * SAMPLE_RATE)) / SAMPLE_RATE
    noise = rng.standard_normal(len(time))
    kick = 4.0 * np.sin(2 * np.pi * (48 * time + 3 * (1 - np.exp(-time / 0.03)))) * np.exp(-time / 0.09)
    snare = 1.5 * noise * np.exp(-time / 0.06)
    hat = 0.5 * np.diff(noise, prepend=0.0) * np.exp(-time / 0.02)
    for beat in track.beats():
        track.add(kick, beat)
        if sound.density >= 0.3 and beat % 2:
            track.add(snare, beat)
    for beat in track.beats(1 / _notes_per_beat(sound)):
        track.add(hat, beat)


def _notes_per_beat(sound: Sound) -> float:
    return 0.5 if sound.density < 0.2 else 1 if sound.density < 0.5 else 2 if sound.density < 0.8 else 4


def _loudness(samples: Wave) -> float:
    return float(np.sqrt(np.mean(samples**2)))


def _shape_spectrum(samples: Wave, centroid: float) -> Wave:
    """Tilt the spectrum by a power of the frequency, so that its power-weighted centroid is `centroid`."""
    frequency = np.fft.rfftfreq(len(samples), 1 / SAMPLE_RATE)
    spectrum = np.fft.rfft(samples)
    spectrum[frequency < 30] = 0
    # Without this limit the wide, weak hi-hats would make a dark clip hiss.
    spectrum /= 1 + (frequency / (4 * centroid)) ** 4
    octave = np.log2(np.maximum(frequency, 30) / centroid)
    power = np.abs(spectrum) ** 2
    # Bands of 1/24 octave replace the bins in the search for the exponent.
    band = ((octave - octave[0]) * 24).astype(np.int64)
    band_power = np.bincount(band, power)
    band_octave = np.bincount(band, power * octave) / np.maximum(band_power, np.finfo(float).tiny)
    low, high = -4.0, 4.0
    for _ in range(40):
        slope = (low + high) / 2
        tilted = band_power * 4.0 ** (slope * band_octave)
        if (tilted * 2.0**band_octave).sum() < tilted.sum():
            low = slope
        else:
            high = slope
    return np.fft.irfft(spectrum * 2.0 ** (slope * octave), len(samples))


@lru_cache(maxsize=256)
def _note(voice: Voice, pitch: int, seconds: float) -> Wave:
    """Synthesise a note of a MIDI pitch, with a short release."""
    frequency = 440 * 2 ** ((pitch - 69) / 12)
    time = np.arange(int(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    period = _period(voice.rolloff, min(24, int(10_000 / frequency)))
    wave = _oscillate(period, frequency * time)
    if voice.detune:
        wave = (wave + _oscillate(period, frequency * (1 + voice.detune) * time)) / 2
    envelope = np.minimum(1, time / voice.attack) * np.minimum(1, (seconds - time) / 0.02)
    wave *= envelope * np.exp(-time / voice.decay)
    return wave


@lru_cache(maxsize=64)
def _period(rolloff: float, n_harmonics: int) -> Wave:
    """Synthesise one period of a tone, sampled finely enough to be read without interpolation."""
    phase = np.arange(1 << 14) / (1 << 14)
    harmonic = np.arange(1, n_harmonics + 1)[:, None]
    tone: Wave = (np.sin(2 * np.pi * harmonic * phase) * harmonic**-rolloff).sum(axis=0)
    return tone


def _oscillate(period: Wave, phase: Wave) -> Wave:
    return period[(phase * len(period)).astype(np.int64) % len(period)]
