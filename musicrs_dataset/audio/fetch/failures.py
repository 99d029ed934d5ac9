"""Failed downloads: the kind of each error, and its reason in one line.

YouTube's reasons arrive as words, which `kinds` reads. Errors of the network and of the disk arrive as classes.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from . import kinds
from .kinds import Kind

_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EFBIG}
_DETAIL = 200  # characters


class Failure(NamedTuple):
    """Reason why a video could not be downloaded.

    Attributes:
        kind: Kind of the failure.
        detail: The reason in one line, as YouTube or yt-dlp stated it.
        in_a_row: Number of equal failures in a row if they stop the run, else 0.
        warnings: Distinct warnings of yt-dlp in this run, if the failure stops the run.
    """

    kind: Kind
    detail: str
    in_a_row: int = 0
    warnings: tuple[str, ...] = ()


def classify(error: BaseException, redact: Callable[[str], str] = str) -> Failure:
    """Find the kind of failure that an error means.

    Args:
        error: An error of yt-dlp's Python interface, or an error while its file was moved into the cache.
        redact: Removes the secrets from a text.

    Returns:
        The failure. A disk that is full or read-only stops the run, and so does a rate limit.
    """
    from yt_dlp.utils import ExtractorError

    chain = list(causes(error))
    message = next((cause.orig_msg for cause in chain if isinstance(cause, ExtractorError)), str(error))
    message = kinds.tidy(message)
    return Failure(_kind(chain, message), _shorten(redact(message)))


def shape(detail: str, video_id: str) -> str:
    """Return a reason without the video id and without numbers, so that reasons of different videos compare."""
    return re.sub(r"\d+", "#", detail.replace(video_id, "")).casefold().strip()


def causes(error: BaseException) -> Iterator[BaseException]:
    """Iterate over an error and its causes, the nearest first; yt-dlp stores some causes in attributes."""
    seen: list[BaseException] = []
    waiting: list[object] = [error]
    while waiting:
        cause = waiting.pop(0)
        if isinstance(cause, BaseException) and cause not in seen:
            seen.append(cause)
            yield cause
            stored = getattr(cause, "exc_info", None) or ()
            waiting += [*stored[1:2], getattr(cause, "cause", None), cause.__cause__, cause.__context__]


def _shorten(message: str) -> str:
    """Keep both ends of a long message: its sentence is at the start, the reason of a block at the end."""
    half = (_DETAIL - 5) // 2
    return message if len(message) <= _DETAIL else f"{message[:half]} ... {message[-half:]}"


def _kind(chain: list[BaseException], message: str) -> Kind:
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
    kind = kinds.kind_of(message)
    if kind == kinds.OTHER and any(isinstance(cause, OSError) for cause in chain):
        return kinds.NETWORK
    return kind
