"""Kinds of failed downloads, and what each means for the video and for the run."""

from __future__ import annotations

from typing import NamedTuple

from ...records import LinkStatus


class Kind(NamedTuple):
    """A kind of failure.

    Attributes:
        status: `gone` (final), `restricted` (needs an account, another place or a higher limit) or `retry`.
        why: Its name, in a word or two.
        stops: Whether the run stops.
    """

    status: LinkStatus
    why: str
    stops: bool = False


# Final. The list is complete: a video is given up for no other reason.
PRIVATE = Kind("gone", "private")
REMOVED = Kind("gone", "removed")  # also deleted, and the account terminated or closed
COPYRIGHT = Kind("gone", "copyright")

AGE = Kind("restricted", "age")
MEMBERS = Kind("restricted", "members")
PAYMENT = Kind("restricted", "payment")
PROTECTED = Kind("restricted", "protected")
REGION = Kind("restricted", "region")
SIGN_IN = Kind("restricted", "sign-in")
TOO_LARGE = Kind("restricted", "limit")

ADDRESS = Kind("retry", "address")
BOT_CHECK = Kind("retry", "bot check")
CLIENT = Kind("retry", "client")
DISK = Kind("retry", "disk", stops=True)
FORBIDDEN = Kind("retry", "forbidden")
JAVASCRIPT = Kind("retry", "JavaScript")
NETWORK = Kind("retry", "network")
NETWORK_DOWN = Kind("retry", "network", stops=True)
NOT_FOUND = Kind("retry", "not found")
NOT_YET = Kind("retry", "not yet")
NO_FORMAT = Kind("retry", "no format")
NO_SOUND = Kind("retry", "no sound")
OTHER = Kind("retry", "other")
RATE_LIMIT = Kind("retry", "rate limit", stops=True)
UNAVAILABLE = Kind("retry", "unavailable")

BY_HTTP_STATUS = {403: FORBIDDEN, 404: NOT_FOUND, 410: NOT_FOUND, 429: RATE_LIMIT}
