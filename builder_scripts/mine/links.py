"""YouTube links of a submission: in its title, its text, its URL and the player that Reddit embedded."""

from __future__ import annotations

import re
from typing import NamedTuple

from musicrs_dataset.youtube import find_video

from .parsing import whole_characters

_SHORTEST = 18  # characters of `y2u.be/` with an id
# A link ends at a blank, at its end by `musicrs_dataset.youtube`, and at the start of the next link.
_BETWEEN = re.compile(r"(?i)[\"'<>()\[\]]+|(?=https?://)")


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
    known: set[str] = set()  # a link often is in the text and in the field for it
    for text in texts:
        if not isinstance(text, str):
            continue
        for word in _words_with_host(text):
            for piece in _BETWEEN.split(word):
                if len(piece) < _SHORTEST or piece in known or not _has_host(piece):
                    continue
                known.add(piece)
                video = find_video(piece)
                if video is not None and video[0] not in links:
                    links[video[0]] = FoundLink(*video, whole_characters(piece))
    return list(links.values())


def _words_with_host(text: str) -> list[str]:
    """Return the words that may hold a link. A search of all words of all texts would take most of the time."""
    if not _has_host(text):
        return []
    return [word for word in text.split() if len(word) >= _SHORTEST and _has_host(word)]


def _has_host(text: str) -> bool:
    """Return True if a text contains a part of a YouTube host."""
    lowered = text.lower()
    return "youtu" in lowered or "y2u.be" in lowered
