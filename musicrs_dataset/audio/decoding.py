"""A stretch of sound out of any file: WAV, FLAC, MP3, Ogg and Opus by soundfile, M4A, WebM, MP4 and the rest by PyAV.

The content of a file says what it is; its name is neither looked at nor handed on, so that it may end in anything and
is never taken for an option, a pattern or an address.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from musicrs_metric.errors import UserError

SHORTEST = 0.1  # seconds
_PREROLL = 1.0  # seconds that a decoder is given to settle after a jump; Opus asks for 0.08, MP3 for a few frames
_LACKING = 0.5  # seconds; lengths in headers are often rounded or estimated
_RIFF_STREAMED = 0x7FFF0000  # sizes from here on are what programs write that do not know the size yet

# Formats that hold sound themselves. Left out are those that only name other files or addresses (playlists, HLS, DASH,
# SDP): a downloaded file must not make this program open anything else.
_CONTAINERS = (
    "aac,ac3,aiff,amr,ape,asf,au,avi,caf,eac3,flac,flv,matroska,mov,mp3,mp4,mpeg,mpegts,ogg,tta,w64,wav,webm,wv"
)

Samples = npt.NDArray[np.float32]


class UnusableAudioError(Exception):
    """A file from which no sound can be had; the message says why."""


class Stretch(NamedTuple):
    """A stretch of a file, as it was recorded.

    Attributes:
        channels: Shape (n, number of channels).
        rate: Sampling rate in Hz.
        is_cut_off: Whether the file ends in it, earlier than its own header says.
    """

    channels: Samples
    rate: int
    is_cut_off: bool


def require(what: str, *libraries: str) -> None:
    """Tell in one line that libraries for audio are absent or do not load.

    Args:
        what: Who needs them, such as "clips need".
        libraries: Modules to import.

    Raises:
        UserError: One of them cannot be imported.
    """
    try:
        for library in libraries:
            import_module(library)
    except (ImportError, OSError) as error:  # OSError: soundfile without its C library
        wanted = " and ".join(libraries)
        raise UserError(f"{what} {wanted} ({error}); run `pip install 'musicrs[audio]'`") from error


def read_stretch(path: Path, start_s: float, seconds: float) -> Stretch:
    """Read a stretch of a file, and of a long file no more than that.

    Args:
        path: The file.
        start_s: Where it starts, in seconds from the beginning of the sound.
        seconds: How much to read.

    Returns:
        The stretch: shorter where the file ends in it, empty where the file ends before it. Of a damaged file, what
        could be decoded.

    Raises:
        UnusableAudioError: The file cannot be opened, holds no sound, or holds it in no known format.
    """
    try:
        with path.open("rb") as file:
            if not os.fstat(file.fileno()).st_size:
                raise UnusableAudioError(f"{path.name} is empty")
            return _read_soundfile(file, start_s, seconds) or _read_av(file, path.name, start_s, seconds)
    except OSError as error:
        raise UnusableAudioError(f"{path.name} cannot be opened ({error.strerror})") from error


def _read_soundfile(file: BinaryIO, start_s: float, seconds: float) -> Stretch | None:
    """Read by libsndfile; None where it does not know the format or stumbles over damage."""
    import soundfile

    try:
        with soundfile.SoundFile(file.fileno(), closefd=False) as sound:
            rate, frames = int(sound.samplerate), int(sound.frames)
            sound.seek(min(round(start_s * rate), frames))
            channels: Samples = sound.read(round(seconds * rate), dtype="float32", always_2d=True)
    except (soundfile.SoundFileError, ValueError):  # ValueError: a header with absurd numbers
        return None
    lacking = min(frames / rate - start_s, seconds) - len(channels) / rate > _LACKING
    at_end = len(channels) < round(seconds * rate)
    return Stretch(channels, rate, lacking or (at_end and _riff_is_cut_off(file)))


def _riff_is_cut_off(file: BinaryIO) -> bool:
    """Whether a WAV file is shorter than it says; libsndfile quietly puts its length right."""
    file.seek(0)
    kind, size = file.read(4), int.from_bytes(file.read(4), "little")
    return kind == b"RIFF" and os.fstat(file.fileno()).st_size < size < _RIFF_STREAMED


def _read_av(file: BinaryIO, name: str, start_s: float, seconds: float) -> Stretch:
    """Read by FFmpeg's libraries, which come with PyAV."""
    try:
        import av
    except ImportError as error:
        raise UnusableAudioError(
            f"{name} is in no format that soundfile reads; for others run `pip install 'musicrs[audio]'`"
        ) from error
    file.seek(0)
    try:
        with av.open(file, options={"format_whitelist": _CONTAINERS}) as container:
            if not container.streams.audio:
                raise UnusableAudioError(f"{name} is a video without sound")
            return _read_stream(container, container.streams.audio[0], start_s, seconds)
    except (av.FFmpegError, ValueError) as error:
        raise UnusableAudioError(f"{name} cannot be decoded: it is no audio file, or a damaged one") from error


def _read_stream(container: Any, stream: Any, start_s: float, seconds: float) -> Stretch:
    if stream.codec_context is None or not stream.rate:
        raise ValueError("a form of sound that nobody knows")
    rate, step = int(stream.rate), stream.time_base
    origin = (stream.start_time or 0) * step  # some formats start counting later than at 0
    if start_s > _PREROLL:
        container.seek(int((start_s - _PREROLL + origin) / step), stream=stream)
    wanted, skipped = round(seconds * rate), 0
    pieces: list[Samples] = []
    n = 0
    for time, piece in _frames(container, stream):
        if not pieces:
            skipped = max(round((start_s - (time - float(origin))) * rate), 0)
        pieces.append(piece)
        n += piece.shape[1]
        if n >= skipped + wanted:
            break
    heard = np.concatenate(pieces, axis=1)[:, skipped : skipped + wanted] if pieces else np.zeros((1, 0), np.float32)
    length = stream.duration * step if stream.duration else container.duration / 1e6 if container.duration else 0
    lacking = min(float(length) - start_s, seconds) - heard.shape[1] / rate > _LACKING
    return Stretch(heard.T, rate, lacking)


def _frames(container: Any, stream: Any) -> Iterator[tuple[float, Samples]]:
    """Decoded frames with their times in seconds, each of shape (channels, n), without what is damaged."""
    import av

    to_float = av.AudioResampler(format="fltp", layout=stream.layout, rate=stream.rate)
    for packet in _packets(container, stream):
        try:
            decoded = packet.decode()
        except av.InvalidDataError:
            continue
        for frame in decoded:
            for piece in to_float.resample(frame):
                samples: Any = piece.to_ndarray()
                yield float(frame.time or 0), samples


def _packets(container: Any, stream: Any) -> Iterator[Any]:
    import av

    with suppress(av.InvalidDataError):  # a container that breaks off
        yield from container.demux(stream)
