"""Prepare clips for models: decode them, mix them to mono, resample them, and cut them into exact windows.

The same bytes give the same samples on every machine, because only soundfile decodes and only soxr resamples.
torchaudio's default filter passes a tone 3 % above the new limit at -8 dB, where soxr leaves -130 dB. It takes two to
twenty times as long, and its last digits depend on the number of threads.
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

# Decoding and resampling release Python's lock. More threads would only hold more clips in memory.
WORKERS = 4


def load_clip(clip: Clip, rate: int, seconds: float | None = None) -> Samples:
    """Decode a clip.

    Args:
        clip: The clip, with its bytes.
        rate: Sampling rate in Hz, as the model's processor requires it.
        seconds: Longest part to decode, from the start of the clip; None for all.

    Returns:
        Shape (n,), mono at `rate`. Channels are mixed by `musicrs_dataset.audio.cutting.to_mono`, so that channels in
        opposite phase do not cancel out.

    Raises:
        UnusableAudioError: The clip cannot be decoded, is shorter than 0.1 s, or has samples that are not numbers.
    """
    with _opened(clip) as file:
        frames = -1 if seconds is None else int(seconds * file.samplerate)
        channels = file.read(frames, dtype="float32", always_2d=True)
        if len(channels) < SHORTEST * file.samplerate:
            raise UnusableAudioError(f"{clip.name}: has less than {SHORTEST} s of audio")
        if not np.isfinite(channels).all():
            raise UnusableAudioError(f"{clip.name}: has samples that are not numbers")
        return resample(to_mono(channels), file.samplerate, rate)


def content_hash(clip: Clip) -> bytes:
    """Return the sha256 of a clip's bytes, 32 bytes long."""
    return hashlib.sha256(clip.audio).digest()


def windows(samples: Samples, size: int, rate: int) -> list[Samples]:
    """Cut samples into windows of one exact length.

    Windows follow each other from the start. The last window ends with the samples and so overlaps the one before it.
    A rest of less than 0.1 s is dropped. Samples shorter than a window give one shorter window.

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
    """Decode clips in the background, a few ahead of the consumer, so that a model does not wait.

    Args:
        clips: Clips, each with the longest part to decode in seconds (see `load_clip`).
        rate: Sampling rate in Hz.
        workers: Number of threads. Memory holds at most twice as many clips.

    Yields:
        Samples, in the order of the clips.

    Raises:
        UnusableAudioError: See `load_clip`; raised in the order of the clips.
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
    finally:  # the consumer may stop early
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
