"""Parse YouTube links: the video id, the start time, and the damage of links in data files.

A video id is 64 bits in URL-safe base64: eleven characters, and the last character has one of sixteen values. Only the
first eleven characters count, so a word glued to the end of a link does no harm. A YouTube host counts at the start of
a link or after a scheme (`https://...`), and never inside the query string of another site.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple
from urllib.parse import unquote

Damage = Literal["doubled", "glued", "hidden"]

_ID = r"[A-Za-z0-9_-]{10}[AEIMQUYcgkosw048]"
_AMPERSAND = re.compile(r"&(?:amp;?)+")
_LINK_START = re.compile(r"(?i)(?=https?://)")
_LINK_TEXT = re.compile(r"[^\s\"'<>()\[\]]+")
_OPENING = r"(?i:(?:^(?:https?:)?//|^|[^A-Za-z0-9._@=/?&#%:+~-])(?:www\.)?"
_SHORT_HOST = re.compile(_OPENING + r"(?:youtu|y2u)\.be(?::\d+)?/+(?:watch\?v=)?)")
_LONG_HOST = re.compile(_OPENING + r"(?:[a-z]{1,10}\.)?youtube(?:-nocookie|kids|\.googleapis)?\.com(?::\d+)?(?=[/?#]))")
# The id as the next part of a path, as a parameter anywhere, or in the player pages of old user channels.
_IN_PATH = rf"/(?:embed|v|e|vi|shorts|live|watch)/({_ID})"
_IN_PARAMETER = rf"[?&/#!;](?:v|vi)=({_ID})"
_IN_PLAYER_PAGE = rf"#p/(?:[a-z]/)?(?:[a-z]/)?\d+/({_ID})"
_LONG_ID = re.compile(f"{_IN_PATH}|{_IN_PARAMETER}|{_IN_PLAYER_PAGE}")
_SHORT_ID = re.compile(f"({_ID})")
_NOT_AN_ID = "videoseries"  # the page that plays a list: eleven characters, and a legal last one

_NAME = r"(?:t|start|time_continue)="
# A time has at most nine digits; a longer run of digits is no time.
_CLOCK = r"(?P<clock>\d{1,9}(?::\d{1,2}){1,2})"
_UNITS = r"(?:(?P<h>\d{1,9})h)?(?:(?P<m>\d{1,9})m)?(?:(?P<s>\d{1,9}(?:\.\d{1,9})?)s?)?"
# A stripped `#` leaves `t=12` glued to the id or to the value of the last parameter.
_START = re.compile(rf"(?i)(?:[?&#;]{_NAME}|(?:^|=[^&?#;=]*)t=)(?:{_CLOCK}|{_UNITS})(?![\d:])")


class _Video(NamedTuple):
    id: str
    before: str
    after: str


def video_id(url: str) -> str | None:
    """Find the video id in a link.

    Args:
        url: A link as pasted or stored: any YouTube host and form, HTML or Markdown escapes, percent-encoding, a second
            copy of itself or a word glued to its end. The time is linear in its length.

    Returns:
        The eleven characters of the first video, or None if the link names no video (a playlist, a channel, another
        site).

    Examples:
        >>> video_id("https://www.youtube.com/watch?feature=share&ampv=jNQXAC9IVRwt=12")
        'jNQXAC9IVRw'
        >>> video_id("https://www.youtube.com/playlist?list=PL9D8E4F70FCA637E5") is None
        True
    """
    video = _find(url)
    return None if video is None else video.id


def start_seconds(url: str) -> float:
    """Find the start time in a link.

    Args:
        url: As for `video_id`. The parameters `t`, `start` and `time_continue` count in the query, in the fragment or
            glued to the id, as `90`, `90s`, `1m30s`, `1h2m3s` or `1:23`.

    Returns:
        Seconds from the beginning, at least 0; 0 if the link names no video or no time.

    Examples:
        >>> start_seconds("https://youtu.be/jNQXAC9IVRw?t=1m30s")
        90.0
    """
    video = find_video(url)
    return 0.0 if video is None else video[1]


def find_video(url: str) -> tuple[str, float] | None:
    """Find the video id and the start time in a link, as `video_id` and `start_seconds` do separately."""
    video = _find(url)
    if video is None:
        return None
    time = _START.search(video.after) or _START.search(video.before)
    return video.id, 0.0 if time is None else _seconds(time)


def damage(url: str) -> Damage | None:
    """Classify the damage of a link to a video.

    Args:
        url: As for `video_id`.

    Returns:
        "doubled" (the link twice in one string), "hidden" (the `v=` after an `&amp` without its semicolon), "glued"
        (text follows the id without `&`, `?` or `#`), or None for an undamaged link and for a text that is no link to a
        video.
    """
    video = _find(url)
    if video is None:
        return None
    half = len(url) // 2
    if url[:half] == url[half:]:
        return "doubled"
    if "&ampv=" in url:
        return "hidden"
    return None if re.match(r"$|/?[?#].|/?&", video.after) else "glued"


def _find(url: str) -> _Video | None:
    # A split at every scheme separates doubled links, nested links and other text, and keeps the search linear.
    for piece in _LINK_START.split(_unescape(url)):
        lowered = piece.lower()
        for part, host, find in ((".be", _SHORT_HOST, _SHORT_ID.match), ("youtube", _LONG_HOST, _LONG_ID.search)):
            opening = host.search(piece) if part in lowered else None  # the search of a text is cheaper
            if opening is None:
                continue
            link = _LINK_TEXT.match(piece, opening.end())
            match = link and find(link[0])
            if link and match and match[match.lastindex or 0] != _NOT_AN_ID:
                return _Video(match[match.lastindex or 0], link[0][: match.start()], link[0][match.end() :])
    return None


def _unescape(url: str) -> str:
    plain = _AMPERSAND.sub("&", url) if "&" in url else url
    plain = plain.replace("\\_", "_").replace("\u200b", "").replace("&#x200B;", "")
    return unquote(unquote(plain)) if "%" in plain else plain  # links inside links are encoded once per level


def _seconds(time: re.Match[str]) -> float:
    if time["clock"]:
        total = 0
        for part in time["clock"].split(":"):
            total = total * 60 + int(part)
        return float(total)
    return 3600 * float(time["h"] or 0) + 60 * float(time["m"] or 0) + float(time["s"] or 0)
