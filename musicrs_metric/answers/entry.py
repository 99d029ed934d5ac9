"""One line or piece of an answer, before the list that it belongs to is known."""

from __future__ import annotations

import re
from typing import NamedTuple

from .scores import Score

_TALK = re.compile(
    r"\s*(?:sure|okay|certainly|of course|absolutely|here(?:'s| is| are)|i'm|i am|i'd|i've|i have|i would|let me"
    r"|note that|based on|as an?|the following|below|hope (?:this|that)|please|sorry)\b",
    re.IGNORECASE,
)
_MOST_WORDS = 20


class Entry(NamedTuple):
    """One thing that an answer may list, before its list is known.

    Attributes:
        text: The text of the item.
        title: The candidate whose title it has.
        first: The number that it starts with: of the list, of its rank or its identifier.
        second: The identifier behind that number.
        score: A score in its remark.
        is_plain: Whether it says nothing but the candidate.
        is_ranked: Whether the first number is called a rank.
        is_bracketed: Whether the first number is in square brackets.
        between: What stands between the two numbers.
        marker: The list marker in front of a title.
    """

    text: str
    title: int | None = None
    first: int | None = None
    second: int | None = None
    score: Score | None = None
    is_plain: bool = False
    is_ranked: bool = False
    is_bracketed: bool = False
    between: str = ""
    marker: str = ""


def is_talk(text: str) -> bool:
    """Check whether a piece that names no candidate reads like a remark rather than like an invented title."""
    return bool(_TALK.match(text)) or text.rstrip("* \t").endswith(":") or len(text.split(maxsplit=50)) > _MOST_WORDS
