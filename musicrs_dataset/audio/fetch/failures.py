"""What an error of a download means for a video, and for the rest of the run.

YouTube's reasons arrive as words, which `messages` reads. Errors of the network and of the disk arrive as classes.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from . import kinds
from .kinds import Kind
from .messages import kind_of, tidy

_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EFBIG}
_DETAIL = 200  # characters


class Failure(NamedTuple):
    """Why a video could not be downloaded.

    Attributes:
        kind: Its kind.
        detail: The reason in one line, as YouTube or yt-dlp stated it.
        in_a_row: Number of equal failures in a row, where they stop the run; 0 otherwise.
        warnings: yt-dlp's own warnings in this run, each once, where the failure stops the run.
    """

    kind: Kind
    detail: str
    in_a_row: int = 0
    warnings: tuple[str, ...] = ()


def classify(error: BaseException, redact: Callable[[str], str] = str) -> Failure:
    """Say what an error of a download means.

    Args:
        error: An error of yt-dlp's Python interface, or one that arose while its file was put away.
        redact: Takes the secrets out of a text.

    Returns:
        The failure. A disk that is full or cannot be written to stops the run, like a rate limit.
    """
    from yt_dlp.utils import ExtractorError

    chain = list(causes(error))
    stated = next((cause.orig_msg for cause in chain if isinstance(cause, ExtractorError)), str(error))
    words = tidy(stated)
    return Failure(_kind(chain, words), _shortened(redact(words)))


def shape(detail: str, video_id: str) -> str:
    """Return a reason without the video id and without numbers, so that reasons of different videos compare."""
    return re.sub(r"\d+", "#", detail.replace(video_id, "")).casefold().strip()


def _shortened(words: str) -> str:
    """Both ends of a long message: the sentence stands at its start, and who blocked a video how, at its end."""
    half = (_DETAIL - 5) // 2
    return words if len(words) <= _DETAIL else f"{words[:half]} ... {words[-half:]}"


def _kind(chain: list[BaseException], words: str) -> Kind:
    from yt_dlp.networking.exceptions import HTTPError, RequestError
    from yt_dlp.utils import GeoRestrictedError

    for cause in chain:
        if isinstance(cause, HTTPError):
            return kinds.BY_HTTP_STATUS.get(cause.status, kinds.NETWORK)
        if isinstance(cause, RequestError):
            return kinds.NETWORK
        if isinstance(cause, GeoRestrictedError):
            return kinds.REGION
        if isinstance(cause, OSError) and cause.errno in _DISK:
            return kinds.DISK
    kind = kind_of(words)
    if kind == kinds.OTHER and any(isinstance(cause, OSError) for cause in chain):
        return kinds.NETWORK
    return kind


def causes(error: BaseException) -> Iterator[BaseException]:
    """Go through an error and what it was raised from, the nearest first; yt-dlp keeps some of that in attributes."""
    seen: list[BaseException] = []
    waiting: list[object] = [error]
    while waiting:
        one = waiting.pop(0)
        if isinstance(one, BaseException) and one not in seen:
            seen.append(one)
            yield one
            kept = getattr(one, "exc_info", None) or ()
            waiting += [*kept[1:2], getattr(one, "cause", None), one.__cause__, one.__context__]
