"""Marks that models put around a title: list markers, quotes, emphasis, closing punctuation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

MarkerKind = Literal["number", "bullet"]

_NUMBER = re.compile(
    r"\s*(?:\*\*|__)?(?:(?:rank|place|position|no\.?|number)\s)?[#(\[]?(?P<number>\d{1,4})(?:st|nd|rd|th)?"
    r"(?:[.)\]、．](?!\d)|:(?=\s|\*)|：|\s+[-–—](?=\s)|\t)[:.]?(?:\*\*|__)?\s*",
    re.IGNORECASE,
)
_LETTER = re.compile(r"\s*(?:\*\*|__)?\(?(?P<letter>[a-z]|[ivx]{1,5}|[A-Z])[.)](?:\*\*|__)?\s+")
_CIRCLED = re.compile(r"\s*(?P<circled>[①-⑳])\s*")
_BULLET = re.compile(r"\s*(?:[-*+•‣◦▪●·–—>]|#{1,6})\s+")
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+.!>\"'-])")
_DOUBLE = ("**", "__")
_PAIRS = {'"': '"', "'": "'", "`": "`", "*": "*", "_": "_", "“": "”", "‘": "’", "«": "»", "[": "]", "(": ")", "<": ">"}
_PAIRS |= {"„": "“", "「": "」", "『": "』", "《": "》", "【": "】"}
_TAIL = " \t,;.:!。，；"


class Marker(NamedTuple):
    """The start of a line of a list.

    Attributes:
        kind: "number" for numbers and letters, "bullet" for signs.
        number: The number; None for bullets and letters.
        end: Where the text of the line begins.
    """

    kind: MarkerKind
    number: int | None
    end: int


def marker(line: str) -> Marker | None:
    """The list marker that a line starts with, or None."""
    if found := _NUMBER.match(line):
        return Marker("number", int(found["number"]), found.end())
    if found := _CIRCLED.match(line):
        return Marker("number", ord(found["circled"]) - ord("①") + 1, found.end())
    if found := _BULLET.match(line):
        return Marker("bullet", None, found.end())
    if found := _LETTER.match(line):
        return Marker("number", None, found.end())
    return None


def unmarked(text: str) -> Iterator[str]:
    """The text as it stands, then without one list marker, then without two.

    The order matters: titles such as `30. THOUSAND` or `-Old Fires` look as if they had a marker.
    """
    yield text
    for _ in range(2):
        found = marker(text)
        if found is None:
            return
        text = text[found.end :]
        yield text


def unwrapped(text: str) -> Iterator[str]:
    """The text as it stands, then with less and less around it: closing punctuation, pairs of quotes and the like."""
    text = text.strip()
    yield text
    for _ in range(4):
        closing = _PAIRS.get(text[:1])
        if text[:2] in _DOUBLE and len(text) > 4 and text.endswith(text[:2]):
            text = text[2:-2].strip()
        elif closing is not None and len(text) > 2 and text.endswith(closing):
            text = text[1:-1].strip()
        elif text[-1:] and text[-1] in _TAIL:
            text = text.rstrip(_TAIL)
        else:
            break
        yield text
    plain = _ESCAPE.sub(r"\1", text)
    if plain != text:
        yield plain


def bare(text: str) -> str:
    """An item as it is kept: without marker and wrapping, on one line and not longer than a title."""
    *_, text = unmarked(text)
    *_, text = unwrapped(text)
    return " ".join(text.split())[:200].strip()
