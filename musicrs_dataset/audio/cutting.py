"""One clip from one audio file: a stretch of it mixed to mono, resampled, packed.

Clips are kept as 16-bit FLAC. Measured on twelve 30 s pieces of the toy dataset's synthesiser over pink noise 45 dB
below, mono at 48 kHz, libsndfile 1.2.2, per clip:

    | form           | kbit/s | packing | unpacking | error of a log-mel band | same bytes each time  |
    | FLAC           |    399 |   69 ms |     55 ms |                 0.02 dB | yes                   |
    | Ogg Opus       |     61 | 1322 ms |    256 ms |                 1.61 dB | no: a random serial   |
    | Ogg Opus, high |    258 | 1717 ms |    468 ms |                 0.81 dB | no                    |
    | Ogg Vorbis     |     79 |  573 ms |     57 ms |                 2.47 dB | no                    |

FLAC adds nothing to what the lossy sources lost already, the same samples come out of every decoder, a rebuilt dataset
has the same hash, and packing does not dominate a build. The price is size: five minutes for each of the 477 published
threads are 7 GB a configuration, where Opus would take 1.1 GB.
"""

from __future__ import annotations

import io
from math import log10
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..schema import CLIP_RATE
from .decoding import SHORTEST, Samples, UnusableAudioError, read_stretch

__all__ = ["SHORTEST", "Cut", "Samples", "UnusableAudioError", "cut", "resample", "rms_dbfs", "to_mono"]

QUIETEST = -120.0  # dBFS; stands for digital silence, whose level is minus infinity
_SILENT = 10 ** (-60 / 20)
_COLLAPSED = 10 ** (-20 / 10)  # energy of the mix over that of the loudest channel


class Cut(NamedTuple):
    """A stretch of a file.

    Attributes:
        samples: Shape (n,), mono at `CLIP_RATE`, in [-1, 1].
        start_s: Where in the file it starts, in seconds.
        remarks: What a person should know of it; usually nothing.
    """

    samples: Samples
    start_s: float
    remarks: tuple[str, ...] = ()

    @property
    def duration_s(self) -> float:
        """Its length in seconds."""
        return len(self.samples) / CLIP_RATE

    def flac(self) -> bytes:
        """Pack it as 16-bit FLAC; the same samples give the same bytes."""
        import soundfile

        packed = io.BytesIO()
        soundfile.write(packed, self.samples, CLIP_RATE, format="FLAC", subtype="PCM_16")
        return packed.getvalue()


def cut(path: Path, start_s: float, seconds: float) -> Cut:
    """Cut a stretch out of a file, reading no more of it than needed.

    Args:
        path: A file in any format that soundfile or PyAV reads, whatever its name ends in.
        start_s: Where to start; the beginning of the file is taken where it ends before that or within 0.1 s of it.
        seconds: How much to take; less where the file ends. What would go beyond full scale is turned down as a whole.

    Returns:
        The stretch. Remarks tell that nothing is heard in it (no sample above -60 dBFS), that the file ends earlier
        than its header says, or that it was taken from the beginning.

    Raises:
        UnusableAudioError: The file cannot be decoded, holds less than 0.1 s, or samples that are no numbers.
    """
    stretch, begins, remarks = read_stretch(path, start_s, seconds), start_s, []
    if start_s and len(stretch.channels) < SHORTEST * stretch.rate:
        stretch, begins = read_stretch(path, 0.0, seconds), 0.0
        remarks.append(f"{path.name} ends before {start_s:g} s, so its beginning is taken")
    if len(stretch.channels) < SHORTEST * stretch.rate:
        raise UnusableAudioError(f"{path.name} holds less than {SHORTEST} s of sound")
    samples = resample(to_mono(stretch.channels), stretch.rate, CLIP_RATE)
    peak = max(float(samples.max()), -float(samples.min()))
    if not np.isfinite(peak):
        raise UnusableAudioError(f"{path.name} holds samples that are no numbers")
    if stretch.is_cut_off:
        ends = begins + len(stretch.channels) / stretch.rate
        remarks.append(f"{path.name} is cut off: it ends after {ends:.2f} s, earlier than it says itself")
    if peak < _SILENT:
        remarks.append(f"{path.name} is silent from {begins:g} s on for {len(samples) / CLIP_RATE:g} s")
    return Cut(samples / peak if peak > 1 else samples, begins, tuple(remarks))


def to_mono(channels: Samples) -> Samples:
    """Mix channels to one: their mean, or the loudest one where they cancel out, as in anti-phase stereo.

    Args:
        channels: Shape (n, number of channels).

    Returns:
        Shape (n,).
    """
    apart = np.ascontiguousarray(channels.T)  # several times as fast as working along interleaved channels
    mix: Samples = apart.mean(axis=0)
    energy = np.einsum("cn,cn->c", apart, apart)
    if np.einsum("n,n", mix, mix) < _COLLAPSED * energy.max():
        mix = apart[energy.argmax()]
    return mix


def resample(samples: Samples, source_rate: int, rate: int) -> Samples:
    """Change the sampling rate.

    Args:
        samples: Shape (n,), mono.
        source_rate: Their rate in Hz.
        rate: The new rate in Hz.

    Returns:
        Shape (n * rate / source_rate,), give or take one sample.
    """
    import soxr

    if source_rate == rate:
        return samples
    resampled: Samples = soxr.resample(samples, source_rate, rate)
    return resampled


def rms_dbfs(samples: Samples) -> float:
    """Measure how loud samples are.

    Args:
        samples: Shape (n,), n at least 1.

    Returns:
        Their root mean square in dB relative to full scale, which is 1, to two decimals: a sine that just fits has
        -3.01 dBFS. At least -120, which stands for digital silence.
    """
    power = float(np.square(samples).mean(dtype=np.float64))
    # Rounded, as the last digits differ between machines.
    return max(round(10 * log10(power), 2), QUIETEST) if power else QUIETEST
