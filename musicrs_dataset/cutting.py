"""One clip from one audio file: decoded at an offset, mixed to mono, resampled, packed as FLAC."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .schema import CLIP_RATE

SHORTEST = 0.1  # seconds
_SILENT = 10 ** (-60 / 20)
_COLLAPSED = 10 ** (-20 / 10)  # energy of the mix over that of the loudest channel

Samples = npt.NDArray[np.float32]


class UnusableAudioError(Exception):
    """A file from which no clip can be cut; the message says why."""


class Cut(NamedTuple):
    """A stretch of a file.

    Attributes:
        samples: Shape (n,), mono at `CLIP_RATE`.
        start_s: Where in the file it starts, in seconds.
    """

    samples: Samples
    start_s: float

    @property
    def duration_s(self) -> float:
        """Its length in seconds."""
        return len(self.samples) / CLIP_RATE

    @property
    def is_silent(self) -> bool:
        """Whether nothing is heard in it: no sample above -60 dBFS."""
        return float(np.abs(self.samples).max(initial=0)) < _SILENT

    def flac(self) -> bytes:
        """Pack it as 16-bit FLAC; the same samples give the same bytes."""
        import soundfile

        packed = io.BytesIO()
        soundfile.write(packed, self.samples, CLIP_RATE, format="FLAC", subtype="PCM_16")
        return packed.getvalue()


def cut(path: Path, start_s: float, seconds: float) -> Cut:
    """Cut a stretch out of a file, reading no more of it than needed.

    Args:
        path: A file in any format that soundfile reads.
        start_s: Where to start; the beginning of the file is taken where it ends before that.
        seconds: How much to take; less where the file ends.

    Returns:
        The stretch.

    Raises:
        UnusableAudioError: The file cannot be decoded, holds less than 0.1 s, or samples that are no numbers.
    """
    import soundfile

    try:
        with soundfile.SoundFile(path) as file:
            rate, start = file.samplerate, start_s
            channels = _read(file, start, seconds)
            if len(channels) < SHORTEST * rate:  # past the end, or all but
                start = 0.0
                channels = _read(file, start, seconds)
    except (soundfile.SoundFileError, OSError) as error:
        reason = str(error).split(": ")[-1].strip() if path.stat().st_size else "it is empty"
        raise UnusableAudioError(f"{path.name} cannot be decoded ({reason})") from error
    if len(channels) < SHORTEST * rate:
        raise UnusableAudioError(f"{path.name} holds less than {SHORTEST} s of sound")
    if not np.isfinite(channels).all():
        raise UnusableAudioError(f"{path.name} holds samples that are no numbers")
    return Cut(_resample(to_mono(channels), rate), start)


def _read(file: Any, start_s: float, seconds: float) -> Samples:
    file.seek(min(int(start_s * file.samplerate), file.frames))
    channels: Samples = file.read(int(seconds * file.samplerate), dtype="float32", always_2d=True)
    return channels


def to_mono(channels: Samples) -> Samples:
    """Mix channels to one: their mean, or the loudest one where they cancel out, as in anti-phase stereo.

    Args:
        channels: Shape (n, number of channels).

    Returns:
        Shape (n,).
    """
    mix = channels.mean(axis=1, dtype=np.float64)
    energy = np.square(channels, dtype=np.float64).mean(axis=0)
    loudest = int(energy.argmax())
    if np.square(mix).mean() < _COLLAPSED * energy[loudest]:
        mix = channels[:, loudest]
    return np.ascontiguousarray(mix, dtype=np.float32)


def _resample(samples: Samples, rate: int) -> Samples:
    import soxr

    if rate == CLIP_RATE:
        return samples
    resampled: Samples = soxr.resample(samples, rate, CLIP_RATE)
    return resampled
