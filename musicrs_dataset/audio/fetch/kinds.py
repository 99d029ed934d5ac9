"""Kinds of failed downloads, and the messages of YouTube and yt-dlp that name them.

A message is final only if it *begins* with a sentence that says so. Titles and names of channels and claimants appear
inside sentences and may hold any word: "available to this channel's members on level: Private video". "Unavailable" in
all its forms is not final, because YouTube also says it to clients, addresses and sessions that it does not serve.
Sources: yt-dlp's extractor for YouTube, and yt-dlp issues 7110, 11961, 12958, 13583, 14095, 15767, 16307, 17497.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from ...records import LinkStatus


class Kind(NamedTuple):
    """A kind of failure.

    Attributes:
        status: `gone` (final), `restricted` (needs an account, another country or a higher limit) or `retry`.
        why: Name of the kind, one or two words.
        stops: True if the failure stops the run.
    """

    status: LinkStatus
    why: str
    stops: bool = False


# Final. The list is complete: no other reason makes a video `gone`.
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

_QUOTES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u02bc": "'", "\u0060": "'", "\u201c": '"', "\u201d": '"'})
_COLOUR = re.compile("\033[^m]*m")


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


# Parts of a message that do not name the failure: the site, the id, a title in quotes, a general "unavailable".
_OPENING = _pattern(
    r"(?:(?:error|unplayable|login_required|warning|youtube said):|\[[\w:+-]+\]|[\w-]{11}:|\"[^\"]*\"|"
    r"(?:sorry|we're sorry|unfortunately),|"
    r"(?:(?:this|the) )?(?:video|content) (?:is )?(?:unavailable|not available|isn't available|isn't available anymore)"
    r"[.:!]|[\s.:,-])+"
)

_END = r"(?=\s*(?:[.:!;,]|$))"
_LOST = r"(?:no longer available|not available|unavailable|blocked|removed|taken down|deleted|disabled)"
_OWNER = r"(?:uploader|user|owner|creator|account owner|channel owner)"
# Patterns of the whole message if a sentence holds a name, so that the words of the name decide nothing.
_BLOCKED = _pattern(r".*\b(?:who|whom) (?:has|have) blocked it\b(?P<how>.*)$")
_CONTENT_FROM = _pattern(
    r"this video contains content from .+\. (?:it|this video) (?:is not|isn't) available(?P<how>.*)$"
)
_MEMBERS = _pattern(
    r"(?:this (?:video|content) is (?:only )?available (?:only )?(?:to|for) .*\bmembers?\b|join this channel)"
)
_CLAIMED = _pattern(
    rf"(?:this|the) (?:video|content) (?:is|has been|was) {_LOST} (?:due to|because of|as a result of|following|on) "
    r"(?:an? |the |multiple )?(?:[\w-]+ ){0,4}?copyright\b"
)
# Sentences without a name. They are final unless a later sentence names a temporary trouble.
_FINAL = (
    (
        _pattern(
            rf"private video(?:{_END}|(?= sign in))|this is a private video\b|"
            rf"(?:this|the) video (?:is|has been|was) (?:now |made |set to )?private{_END}|"
            r"(?:please )?sign in if you've been granted access\b"
        ),
        PRIVATE,
    ),
    (
        _pattern(
            r"(?:this|the) (?:video|content) is (?:no longer available|unavailable|not available) because "
            r"(?:the|this|its) .*\b(?:has been|have been|was|were|has|have|is) (?:closed|terminated|deleted)\b|"
            rf"(?:the|this|your|uploader's|user's) (?:{_OWNER}'s )?(?:youtube )?(?:account|channel)\b[^.]*"
            r"\b(?:has been|was|is) (?:closed|terminated|deleted)\b|"
            rf"(?:the|this) {_OWNER} (?:has )?(?:closed (?:their|his|her|the) )|"
            r"account (?:terminated|closed|deleted)\b"
        ),
        REMOVED,
    ),
    (
        _pattern(
            rf"(?:(?:this|the|your) )?(?:video|content) (?:(?:is|was|has been|had been) )?(?:permanently )?"
            rf"(?:removed|deleted|taken down)\b(?! (?:in your|from (?!youtube)))|"
            rf"(?:deleted|removed) video{_END}|"
            r"(?:this|the) video is (?:no longer available|unavailable|not available) because it (?:has been|was) "
            r"(?:removed|deleted|taken down)\b|"
            rf"(?:(?:this|the) video is (?:no longer available|unavailable|not available) because )?"
            rf"(?:the|its) {_OWNER} (?:has )?(?:removed|deleted|taken down) (?:it|this video|the video)\b"
        ),
        REMOVED,
    ),
)
_REGION = _pattern(r"\bin your (?:country|region|location|area)|your location|country domain|geo-?(?:restrict|block)")
# The order matters: the words of one kind occur in the messages of the kinds below it.
_BY_WORDS = (
    (_pattern(r"rate-?\s?limited|content isn't available, try again later|too many requests"), RATE_LIMIT),
    (_pattern(r"not a (?:bot|robot)|captcha|unusual traffic|automated (?:queries|requests)"), BOT_CHECK),
    (_pattern(r"confirm your age|inappropriate for some users|age[- ]restricted|age[- ]verification"), AGE),
    (_REGION, REGION),
    (_pattern(r"private networks?|ip (?:address )?is likely being blocked|your ip\b|tunnel connection"), ADDRESS),
    (_pattern(r"members-only|channel's members|premium members|join this channel"), MEMBERS),
    (_pattern(r"requires payment|\bpurchase|\brent(?:al|ed)?\b"), PAYMENT),
    (_pattern(r"more than --max-(?:minutes|megabytes)"), TOO_LARGE),
    (_pattern(r"\bdrm\b"), PROTECTED),
    (
        _pattern(r"premieres? |live event will|live stream(?! recording)|is upcoming|is offline|processing this video"),
        NOT_YET,
    ),
    (
        _pattern(
            r"nsig|\bn[- ]?challenge|challenge solving|signature (?:extraction|function)|javascript runtime|"
            r"identify player|player (?:url|js)"
        ),
        JAVASCRIPT,
    ),
    (_pattern(r"page needs to be reloaded"), OTHER),
    (
        _pattern(r"requested format|no video formats|\bsabr\b|\bpo[ _-]?token|formats? (?:have|has) been skipped"),
        NO_FORMAT,
    ),
    (
        _pattern(r"other websites|display on this website|on this app\b|in this application|latest version of youtube"),
        CLIENT,
    ),
    (_pattern(r"sign in|log ?in\b|registered users"), SIGN_IN),
    (_pattern(r"giving up after|timed out|content too short|connection (?:reset|refused|aborted)"), NETWORK),
    (
        _pattern(r"\bunavailable|(?:not|n't|no longer) (?:be )?available|does not exist|doesn't exist"),
        UNAVAILABLE,
    ),
)
_HTTP = _pattern(r"\bhttp error (\d{3})\b")
_LATER_TROUBLE = _pattern(
    r"not a (?:bot|robot)|captcha|rate-?\s?limited|try again|too many requests|http error|requested format|timed out"
)


def tidy(message: str) -> str:
    """Return a message as one line, with plain quotes and spaces, without colour codes."""
    plain = unicodedata.normalize("NFKC", _COLOUR.sub("", message)).translate(_QUOTES)
    return " ".join(plain.split()).removeprefix("ERROR:").strip()


def kind_of(message: str) -> Kind:
    """Find the kind of failure that a message names.

    Args:
        message: One line, as `tidy` returns it. Its end may be missing, because its start decides if it is final.

    Returns:
        The kind; `OTHER` if no pattern matches. Only a message that begins with a known sentence is final.
    """
    opening = _OPENING.match(message)
    words = message[opening.end() :] if opening else message
    if blocked := _BLOCKED.match(words) or _CONTENT_FROM.match(words):
        return _kind_of_block(blocked["how"].strip().lower())
    if _MEMBERS.match(words):
        return MEMBERS
    if _CLAIMED.match(words):
        return COPYRIGHT
    for pattern, kind in _FINAL:
        if (final := pattern.match(words)) and not _LATER_TROUBLE.search(words, final.end()):
            return kind
    if http := _HTTP.search(message):
        return BY_HTTP_STATUS.get(int(http[1]), NETWORK)
    return next((kind for pattern, kind in _BY_WORDS if pattern.search(message)), OTHER)


def _kind_of_block(how: str) -> Kind:
    if how.startswith("in your"):
        return REGION
    if how.startswith("on copyright"):
        return COPYRIGHT
    return CLIENT if how.startswith("from display") else UNAVAILABLE
