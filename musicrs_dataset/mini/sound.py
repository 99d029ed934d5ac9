"""Description of a recording of the mini dataset, for the synthesiser."""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Literal

Mode = Literal["major", "minor"]
Timbre = Literal["pad", "strings", "organ", "brass", "synth", "distorted", "piano", "pluck"]


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
