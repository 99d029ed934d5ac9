"""Clips as a model wants them: decoded, mono, at the model's own rate, cut into exact windows.

The same bytes give the same samples on every machine: soundfile decodes and soxr resamples, whatever else is installed.
(torchaudio's default filter lets a tone 3 % above the new limit through at -8 dB where soxr leaves -130 dB, takes two
to twenty times as long, and its last digits depend on the number of threads.)
"""

from __future__ import annotations

import hashlib
import io
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..records import Clip
from .cutting import SHORTEST, Samples, UnusableAudioError, resample, to_mono

# Decoding and resampling release Python's lock; more threads than a few only hold more clips in memory.
WORKERS = 4


def load_clip(clip: Clip, rate: int, seconds: float | None = None) -> Samples:
    """Decode a clip.

    Args:
        clip: The clip, with its bytes.
        rate: Sampling rate in Hz, as the model's processor asks for it.
        seconds: Take no more than that, from its start; None for all.

    Returns:
        Shape (n,), mono at `rate`. Channels are mixed by `musicrs_dataset.audio.cutting.to_mono`, so that channels in
        opposite phase do not cancel out.

    Raises:
        UnusableAudioError: It cannot be decoded, is shorter than 0.1 s, or holds samples that are no numbers.
    """
    with _opened(clip) as file:
        frames = -1 if seconds is None else int(seconds * file.samplerate)
        channels = file.read(frames, dtype="float32", always_2d=True)
        if len(channels) < SHORTEST * file.samplerate:
            raise UnusableAudioError(f"{clip.name}: holds less than {SHORTEST} s of sound")
        if not np.isfinite(channels).all():
            raise UnusableAudioError(f"{clip.name}: holds samples that are no numbers")
        return resample(to_mono(channels), file.samplerate, rate)


def clip_seconds(clip: Clip) -> float:
    """How long a clip is, as its header says; nothing is decoded.

    Args:
        clip: The clip, with its bytes.

    Raises:
        UnusableAudioError: It cannot be opened, or is shorter than 0.1 s.
    """
    with _opened(clip) as file:
        seconds = float(file.frames / file.samplerate)
    if seconds < SHORTEST:
        raise UnusableAudioError(f"{clip.name}: holds less than {SHORTEST} s of sound")
    return seconds


def content_hash(clip: Clip) -> bytes:
    """Name a clip by its bytes: sha256, 32 bytes long."""
    return hashlib.sha256(clip.audio).digest()


def windows(samples: Samples, size: int, rate: int) -> list[Samples]:
    """Cut samples into windows of one exact length.

    They lie end to end from the start. The last one ends where the samples end and so overlaps the one before it,
    unless less than 0.1 s are left over, which nobody misses. What is shorter than a window is one shorter window.

    Args:
        samples: Shape (n,), n at least 1.
        size: Length of a window in samples.
        rate: Sampling rate in Hz.

    Returns:
        At least one window, each a view of the samples.
    """
    if len(samples) <= size:
        return [samples]
    starts = list(range(0, len(samples) - size + 1, size))
    if len(samples) - (starts[-1] + size) >= SHORTEST * rate:
        starts.append(len(samples) - size)
    return [samples[start : start + size] for start in starts]


def load_clips(clips: Iterable[tuple[Clip, float | None]], rate: int, workers: int = WORKERS) -> Iterator[Samples]:
    """Decode clips in the background, a few ahead of whoever takes them, so that a model need not wait.

    Args:
        clips: Clips, each with how many seconds of it to take (see `load_clip`).
        rate: Sampling rate in Hz.
        workers: Threads; twice as many clips are held at most.

    Yields:
        Samples, in the order of the clips.

    Raises:
        UnusableAudioError: See `load_clip`; raised when it is the turn of the clip.
    """
    ahead: deque[Future[Samples]] = deque()
    pool = ThreadPoolExecutor(workers, thread_name_prefix="clips")
    try:
        for clip, seconds in clips:
            ahead.append(pool.submit(load_clip, clip, rate, seconds))
            if len(ahead) >= 2 * workers:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()
    finally:  # whoever takes them may have had enough
        pool.shutdown(cancel_futures=True)


@contextmanager
def _opened(clip: Clip) -> Iterator[Any]:
    import soundfile

    try:
        with soundfile.SoundFile(io.BytesIO(clip.audio)) as file:
            yield file
    except soundfile.SoundFileError as error:
        reason = str(error).split(": ")[-1].strip() if clip.audio else "it is empty"
        raise UnusableAudioError(f"{clip.name}: cannot be decoded ({reason})") from error
