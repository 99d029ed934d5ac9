"""Remarks around the list of an answer, separated from its items."""

from __future__ import annotations

import re

_TALK = re.compile(
    r"\s*(?:sure|okay|certainly|of course|absolutely|here(?:'s| is| are)|i'm|i am|i'd|i've|i have|i would|let me"
    r"|note that|based on|as an?|the following|below|hope (?:this|that)|please|sorry)\b",
    re.IGNORECASE,
)
_MOST_WORDS = 20


def is_talk(text: str) -> bool:
    """Check whether a piece that names no candidate reads like a remark rather than like an invented title."""
    return bool(_TALK.match(text)) or text.rstrip("* \t").endswith(":") or len(text.split(maxsplit=50)) > _MOST_WORDS
