"""The YouTube links of a submission: in its title, its text, its address and the player that Reddit embedded."""

from __future__ import annotations

import re
from typing import NamedTuple

from musicrs_dataset.youtube import start_seconds, video_id

from .parsing import whole_characters

# Both spare most words the search: a YouTube host holds one of the two, and the shortest link is `y2u.be/` with an id.
_HOST = re.compile(r"(?i)youtu|y2u\.be")
_SHORTEST = 18
# Without one of these no link says where it starts: the names of the parameter, and what they may be written with.
_MAY_START = re.compile(r"(?i)t=|continue|%|x200b|[^\x00-\x7f]")
# Blanks apart, a link ends at what `musicrs_dataset.youtube` takes for its end, and where the next one begins.
_BETWEEN = re.compile(r"(?i)[\"'<>()\[\]]+|(?=https?://)")


class FoundLink(NamedTuple):
    """A link to a video.

    Attributes:
        video_id: The 11 characters that name the video.
        start_s: Where the link starts, in seconds.
        url: The link as the dump has it, escapes and damage included.
    """

    video_id: str
    start_s: float
    url: str


def find_links(*texts: object) -> list[FoundLink]:
    """Find the links to YouTube videos in texts.

    Args:
        texts: What a dump has in the fields to be searched, in the order of their weight; what is no string holds none.

    Returns:
        Each video once, at its first link, in order. Takes time linear in the length of the texts.

    Examples:
        >>> find_links("like [this](https://youtu.be/jNQXAC9IVRw?t=5) or https://youtu.be/jNQXAC9IVRw", None)
        [FoundLink(video_id='jNQXAC9IVRw', start_s=5.0, url='https://youtu.be/jNQXAC9IVRw?t=5')]
    """
    found: dict[str, FoundLink] = {}
    for text in texts:
        if not isinstance(text, str) or not _HOST.search(text):
            continue
        for word in [word for word in text.split() if len(word) >= _SHORTEST and _HOST.search(word)]:
            for piece in _BETWEEN.split(word):
                video = video_id(piece) if len(piece) >= _SHORTEST else None
                if video is not None and video not in found:
                    start = start_seconds(piece) if _MAY_START.search(piece) else 0.0
                    found[video] = FoundLink(video, start, whole_characters(piece))
    return list(found.values())
