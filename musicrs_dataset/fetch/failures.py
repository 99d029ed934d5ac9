"""What an error of the download means for a video, and for the rest of the run.

yt-dlp passes on what YouTube says, so most kinds are told by words. The order matters: "Video unavailable" opens the
messages about removed videos, about other countries and about the rate limit alike. What nobody here has heard of is
tried again: a video is given up only on words that are known.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from typing import NamedTuple

from ..records import LinkStatus

_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EFBIG}
_DETAIL = 200  # characters


class Kind(NamedTuple):
    """A kind of failure.

    Attributes:
        status: `gone`, `restricted` or `retry`.
        why: Its name, in a word or two.
        stops: Whether asking for more videos now would make it worse.
    """

    status: LinkStatus
    why: str
    stops: bool = False


class Failure(NamedTuple):
    """Why a video could not be had; `detail` is the reason as it was told, in one line."""

    kind: Kind
    detail: str


NETWORK = Kind("retry", "network")
NETWORK_DOWN = Kind("retry", "network", stops=True)
RATE_LIMIT = Kind("retry", "rate limit", stops=True)
NO_SOUND = Kind("retry", "no sound")
NOT_FOUND = Kind("retry", "not found")
REMOVED = Kind("gone", "removed")
_REGION = Kind("restricted", "region")
_BY_HTTP = {403: Kind("retry", "forbidden"), 404: NOT_FOUND, 410: NOT_FOUND, 429: RATE_LIMIT}
_BY_WORDS = (
    (r"rate-?limited|try again later|too many requests", RATE_LIMIT),
    (r"not a bot|captcha|unusual traffic", Kind("retry", "bot check", stops=True)),
    (r"confirm your age|inappropriate for some users|age-restricted", Kind("restricted", "age")),
    (r"in your country|your location", _REGION),
    (r"members-only|channel's members|premium members", Kind("restricted", "members")),
    (r"requires payment|purchase", Kind("restricted", "payment")),
    (r"private|granted access", Kind("gone", "private")),
    (r"copyright", Kind("gone", "copyright")),
    (r"\bdrm\b", Kind("gone", "protected")),
    (r"premieres? |live event will|live stream|processing this video", Kind("retry", "not yet")),
    (r"removed|terminated|closed their|no longer available|does not exist", REMOVED),
    (r"sign in|registered users", Kind("restricted", "sign-in")),
    (r"video (is )?(unavailable|not available)", Kind("gone", "unavailable")),
    (r"requested format|no video formats", Kind("retry", "no format")),
    (r"giving up after|timed out|content too short", NETWORK),
)


def classify(error: BaseException) -> Failure:
    """Say what an error of a download means.

    Args:
        error: What yt-dlp's Python interface raised, or what arose while its file was put away.

    Returns:
        The failure. A disk that is full or cannot be written to stops the run, like a rate limit and a bot check.
    """
    from yt_dlp.utils import ExtractorError, remove_terminal_sequences

    chain = list(causes(error))
    told = next((cause.orig_msg for cause in chain if isinstance(cause, ExtractorError)), str(error))
    words = " ".join(remove_terminal_sequences(told).replace("\u2019", "'").removeprefix("ERROR:").split())
    return Failure(_kind(chain, words), words[:_DETAIL])


def _kind(chain: list[BaseException], words: str) -> Kind:
    from yt_dlp.networking.exceptions import HTTPError, RequestError
    from yt_dlp.utils import GeoRestrictedError

    for cause in chain:
        if isinstance(cause, HTTPError):
            return _BY_HTTP.get(cause.status, NETWORK)
        if isinstance(cause, RequestError):
            return NETWORK
        if isinstance(cause, GeoRestrictedError):
            return _REGION
        if isinstance(cause, OSError) and cause.errno in _DISK:
            return Kind("retry", "disk", stops=True)
    for pattern, kind in _BY_WORDS:
        if re.search(pattern, words, re.IGNORECASE):
            return kind
    return NETWORK if any(isinstance(cause, OSError) for cause in chain) else Kind("retry", "other")


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
