"""YouTube links of a submission: in its title, its text, its URL and the player that Reddit embedded."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from musicrs_dataset.youtube import find_video

from .parsing import whole_characters

# A link ends at a blank, at its end by `musicrs_dataset.youtube`, and at the start of the next link. The shortest is
# `y2u.be/` with an id.
_WORD = re.compile(r"[^\s\"'<>()\[\]]{18,}")
_START = re.compile(r"(?i)(?=https?://)")
_SHORTEST = 18


class FoundLink(NamedTuple):
    """A link to a video.

    Attributes:
        video_id: The 11 characters that name the video.
        start_s: Start in the video, in seconds.
        url: The link as in the dump, with its escapes and damage.
    """

    video_id: str
    start_s: float
    url: str


def find_links(*texts: object) -> list[FoundLink]:
    """Find the links to YouTube videos in texts.

    Args:
        texts: Fields of a dump, in the order of their weight. Only strings hold links.

    Returns:
        Each video once, with its first link, in order. The time is linear in the length of the texts.

    Examples:
        >>> find_links("like [this](https://youtu.be/jNQXAC9IVRw?t=5) or https://youtu.be/jNQXAC9IVRw", None)
        [FoundLink(video_id='jNQXAC9IVRw', start_s=5.0, url='https://youtu.be/jNQXAC9IVRw?t=5')]
    """
    links: dict[str, FoundLink] = {}
    for text in texts:
        # A search of all words of all texts would take most of the time.
        if not isinstance(text, str) or not _has_host(text):
            continue
        for word in _WORD.findall(text):
            for piece in _pieces(word):
                video = find_video(piece) if len(piece) >= _SHORTEST and _has_host(piece) else None
                if video is not None and video[0] not in links:
                    links[video[0]] = FoundLink(*video, whole_characters(piece))
    return list(links.values())


def _pieces(word: str) -> Sequence[str]:
    """Cut a word at the start of each link. Nearly all words have one link."""
    is_one = word.isascii() and word.lower().find("http", 1) < 0
    return (word,) if is_one else _START.split(word)


def _has_host(text: str) -> bool:
    """Return True if a text contains a part of a YouTube host."""
    lowered = text.lower()
    return "youtu" in lowered or "y2u.be" in lowered
