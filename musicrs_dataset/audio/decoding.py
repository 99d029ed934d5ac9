"""Decode an excerpt of any audio file: WAV, FLAC, MP3, Ogg and Opus by soundfile; M4A, WebM, MP4 and others by PyAV.

The decoders read the content of a file and never see its name. The name may therefore have any suffix, and cannot be
taken for an option, a pattern or a URL.
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
_PREROLL = 1.0  # seconds that a decoder gets to settle after a jump; Opus needs 0.08, MP3 a few frames
_MISSING = 0.5  # seconds; lengths in headers are often rounded or estimated
_RIFF_STREAMED = 0x7FFF0000  # programs that do not know the size yet write sizes from here on

# Formats that contain audio. Formats that only name other files or URLs (playlists, HLS, DASH, SDP) are excluded,
# because a downloaded file must not make this program open anything else.
_CONTAINERS = (
    "aac,ac3,aiff,amr,ape,asf,au,avi,caf,eac3,flac,flv,matroska,mov,mp3,mp4,mpeg,mpegts,ogg,tta,w64,wav,webm,wv"
)

Samples = npt.NDArray[np.float32]


class UnusableAudioError(Exception):
    """A file without usable audio; the message gives the reason."""


class Excerpt(NamedTuple):
    """Excerpt of a file at its own sampling rate.

    Attributes:
        channels: Shape (n, number of channels).
        rate: Sampling rate in Hz.
        is_cut_off: True if the file ends in the excerpt, earlier than its header states.
    """

    channels: Samples
    rate: int
    is_cut_off: bool


def require(what: str, *libraries: str) -> None:
    """Import the libraries for audio, and refuse in one line if one is missing.

    Args:
        what: Start of the message, such as "clips need".
        libraries: Modules to import.

    Raises:
        UserError: A library cannot be imported.
    """
    try:
        for library in libraries:
            import_module(library)
    except (ImportError, OSError) as error:  # OSError: soundfile without its C library
        names = " and ".join(libraries)
        raise UserError(f"{what} {names} ({error}); run `pip install 'musicrs[audio]'`") from error


def read_excerpt(path: Path, start_s: float, seconds: float) -> Excerpt:
    """Read an excerpt of a file, without the rest of a long file.

    Args:
        path: The file.
        start_s: Start of the excerpt, in seconds from the beginning of the audio.
        seconds: Length of the excerpt.

    Returns:
        The excerpt: shorter if the file ends in it, empty if the file ends before it. For a damaged file, the part that
        could be decoded.

    Raises:
        UnusableAudioError: The file cannot be opened, has no audio, or has an unknown format.
    """
    try:
        with path.open("rb") as file:
            if not os.fstat(file.fileno()).st_size:
                raise UnusableAudioError(f"{path.name} is empty")
            return _read_soundfile(file, start_s, seconds) or _read_av(file, path.name, start_s, seconds)
    except OSError as error:
        raise UnusableAudioError(f"{path.name} cannot be opened ({error.strerror})") from error


def _read_soundfile(file: BinaryIO, start_s: float, seconds: float) -> Excerpt | None:
    """Read by libsndfile; None if the format is unknown or the file is damaged."""
    import soundfile

    try:
        with soundfile.SoundFile(file.fileno(), closefd=False) as sound:
            rate, frames = int(sound.samplerate), int(sound.frames)
            sound.seek(min(round(start_s * rate), frames))
            channels: Samples = sound.read(round(seconds * rate), dtype="float32", always_2d=True)
    except (soundfile.SoundFileError, ValueError):  # ValueError: a header with absurd numbers
        return None
    missing = min(frames / rate - start_s, seconds) - len(channels) / rate > _MISSING
    at_end = len(channels) < round(seconds * rate)
    return Excerpt(channels, rate, missing or (at_end and _riff_is_cut_off(file)))


def _riff_is_cut_off(file: BinaryIO) -> bool:
    """Check if a WAV file is shorter than its header states; libsndfile corrects the length silently."""
    file.seek(0)
    kind, size = file.read(4), int.from_bytes(file.read(4), "little")
    return kind == b"RIFF" and os.fstat(file.fileno()).st_size < size < _RIFF_STREAMED


def _read_av(file: BinaryIO, name: str, start_s: float, seconds: float) -> Excerpt:
    """Read by FFmpeg's libraries, which come with PyAV."""
    try:
        import av
    except ImportError as error:
        raise UnusableAudioError(
            f"{name} has a format that soundfile does not read; for other formats run `pip install 'musicrs[audio]'`"
        ) from error
    file.seek(0)
    try:
        with av.open(file, options={"format_whitelist": _CONTAINERS}) as container:
            if not container.streams.audio:
                raise UnusableAudioError(f"{name} is a video without sound")
            return _read_stream(container, container.streams.audio[0], start_s, seconds)
    except (av.FFmpegError, ValueError) as error:
        raise UnusableAudioError(f"{name} cannot be decoded: it is no audio file, or it is damaged") from error


def _read_stream(container: Any, stream: Any, start_s: float, seconds: float) -> Excerpt:
    if stream.codec_context is None or not stream.rate:
        raise ValueError("an unknown audio codec")
    rate, step = int(stream.rate), stream.time_base
    origin = (stream.start_time or 0) * step  # the clock of some formats does not start at 0
    if start_s > _PREROLL:
        container.seek(int((start_s - _PREROLL + origin) / step), stream=stream)
    size, skipped = round(seconds * rate), 0
    pieces: list[Samples] = []
    n = 0
    for time, piece in _frames(container, stream):
        if not pieces:
            skipped = max(round((start_s - (time - float(origin))) * rate), 0)
        pieces.append(piece)
        n += piece.shape[1]
        if n >= skipped + size:
            break
    samples = np.concatenate(pieces, axis=1)[:, skipped : skipped + size] if pieces else np.zeros((1, 0), np.float32)
    length = stream.duration * step if stream.duration else container.duration / 1e6 if container.duration else 0
    missing = min(float(length) - start_s, seconds) - samples.shape[1] / rate > _MISSING
    return Excerpt(samples.T, rate, missing)


def _frames(container: Any, stream: Any) -> Iterator[tuple[float, Samples]]:
    """Yield decoded frames of shape (channels, n) with their times in seconds; skip damaged packets."""
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
