"""Cut a clip from an audio file: read an excerpt, mix it to mono, resample it and encode it.

Clips are stored as 16-bit FLAC. Measured per clip on twelve 30 s excerpts of the toy dataset's synthesiser, with pink
noise 45 dB below, mono at 48 kHz, libsndfile 1.2.2:

    | form           | kbit/s | packing | unpacking | error of a log-mel band | same bytes each time  |
    | FLAC           |    399 |   69 ms |     55 ms |                 0.02 dB | yes                   |
    | Ogg Opus       |     61 | 1322 ms |    256 ms |                 1.61 dB | no: a random serial   |
    | Ogg Opus, high |    258 | 1717 ms |    468 ms |                 0.81 dB | no                    |
    | Ogg Vorbis     |     79 |  573 ms |     57 ms |                 2.47 dB | no                    |

FLAC loses nothing beyond the losses of the sources, every decoder returns the same samples, a rebuilt dataset has the
same hash, and encoding does not dominate a build. The price is size. Five minutes for each of the 477 published threads
take 7 GB per configuration; Opus would take 1.1 GB.
"""

from __future__ import annotations

import io
from math import log10
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..schema import CLIP_RATE
from .decoding import SHORTEST, Samples, UnusableAudioError, read_excerpt

__all__ = ["SHORTEST", "Cut", "Samples", "UnusableAudioError", "cut", "resample", "rms_dbfs", "to_mono"]

QUIETEST = -120.0  # dBFS; used for digital silence, whose level is minus infinity
_SILENT = 10 ** (-60 / 20)
_COLLAPSED = 10 ** (-20 / 10)  # energy of the mix relative to the loudest channel


class Cut(NamedTuple):
    """Samples of a clip.

    Attributes:
        samples: Shape (n,), mono at `CLIP_RATE`, in [-1, 1].
        start_s: Start in the file, in seconds.
        remarks: Remarks for the user, usually none.
    """

    samples: Samples
    start_s: float
    remarks: tuple[str, ...] = ()

    @property
    def duration_s(self) -> float:
        """Length in seconds."""
        return len(self.samples) / CLIP_RATE

    def flac(self) -> bytes:
        """Encode the samples as 16-bit FLAC; the same samples give the same bytes."""
        import soundfile

        file = io.BytesIO()
        soundfile.write(file, self.samples, CLIP_RATE, format="FLAC", subtype="PCM_16")
        return file.getvalue()


def cut(path: Path, start_s: float, seconds: float) -> Cut:
    """Cut a clip from a file, without reading the rest of the file.

    Args:
        path: A file in any format that soundfile or PyAV reads, with any suffix.
        start_s: Start of the clip, in seconds. If less than 0.1 s of audio follow, the clip starts at 0.
        seconds: Length of the clip; shorter if the file ends. A clip beyond full scale is scaled down as a whole.

    Returns:
        The clip. Its remarks report silence (no sample above -60 dBFS), a file that ends earlier than its header
        states, and a start moved to the beginning.

    Raises:
        UnusableAudioError: The file cannot be decoded, has less than 0.1 s, or has samples that are not numbers.
    """
    excerpt, first_s, remarks = read_excerpt(path, start_s, seconds), start_s, []
    if start_s and len(excerpt.channels) < SHORTEST * excerpt.rate:
        excerpt, first_s = read_excerpt(path, 0.0, seconds), 0.0
        remarks.append(f"{path.name} ends before {start_s:g} s, so the clip starts at 0 s")
    if len(excerpt.channels) < SHORTEST * excerpt.rate:
        raise UnusableAudioError(f"{path.name} has less than {SHORTEST} s of audio")
    samples = resample(to_mono(excerpt.channels), excerpt.rate, CLIP_RATE)
    peak = max(float(samples.max()), -float(samples.min()))
    if not np.isfinite(peak):
        raise UnusableAudioError(f"{path.name} has samples that are not numbers")
    if excerpt.is_cut_off:
        end_s = first_s + len(excerpt.channels) / excerpt.rate
        remarks.append(f"{path.name} is cut off: it ends after {end_s:.2f} s, earlier than its header states")
    if peak < _SILENT:
        remarks.append(f"{path.name} is silent from {first_s:g} s on for {len(samples) / CLIP_RATE:g} s")
    return Cut(samples / peak if peak > 1 else samples, first_s, tuple(remarks))


def to_mono(channels: Samples) -> Samples:
    """Mix channels to mono: their mean, or the loudest channel if they cancel out, as in anti-phase stereo.

    Args:
        channels: Shape (n, number of channels).

    Returns:
        Shape (n,).
    """
    separate = np.ascontiguousarray(channels.T)  # several times as fast as interleaved channels
    mix: Samples = separate.mean(axis=0)
    energy = np.einsum("cn,cn->c", separate, separate)
    if np.einsum("n,n", mix, mix) < _COLLAPSED * energy.max():
        mix = separate[energy.argmax()]
    return mix


def resample(samples: Samples, source_rate: int, rate: int) -> Samples:
    """Change the sampling rate.

    Args:
        samples: Shape (n,), mono.
        source_rate: Rate of the samples in Hz.
        rate: New rate in Hz.

    Returns:
        Shape (n * rate / source_rate,), within one sample.
    """
    import soxr

    if source_rate == rate:
        return samples
    resampled: Samples = soxr.resample(samples, source_rate, rate)
    return resampled


def rms_dbfs(samples: Samples) -> float:
    """Measure the loudness of samples.

    Args:
        samples: Shape (n,), n at least 1.

    Returns:
        Root mean square in dB relative to full scale (1), to two decimals. A sine of full scale has -3.01 dBFS. Digital
        silence has -120.
    """
    power = float(np.square(samples).mean(dtype=np.float64))
    # Rounded, because the last digits differ between machines.
    return max(round(10 * log10(power), 2), QUIETEST) if power else QUIETEST
