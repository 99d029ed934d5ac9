"""Answers without a list: what their sentences name, and lists of nothing but invented titles."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .candidates import Candidates
from .items import is_talk
from .result import Item
from .rows import Rows
from .wrapping import bare

_IDENTIFIER = re.compile(r"\[\s{0,3}(-?\d{1,9})\s{0,3}\]")
_MARKED = re.compile(r"\*\*([^*\n]{1,200})\*\*|(?<!\w)\"([^\"\n]{1,200})\"(?!\w)|“([^”\n]{1,200})”|«([^»\n]{1,200})»")
_MOST_WORDS = 8


def named_in_prose(text: str, candidates: Candidates) -> list[Item]:
    """The candidates that sentences name: by identifiers in brackets, in quotes or bold, or between commas.

    Args:
        text: Plain lines without any list that names something.
        candidates: The pool.
    """
    readings = (
        _identifiers(text, candidates) if candidates.numbered else iter(()),
        _marked(text, candidates),
        _pieces(text, candidates),
    )
    return next((items for reading in readings if (items := list(reading))), [])


def invented(text: str) -> list[Item]:
    """The items of an answer that names no candidate: of a line with short pieces between commas.

    Three are enough; two where each begins with a capital and the line is the whole answer.

    Args:
        text: Plain lines.
    """
    lines = [line for line in text.split("\n") if line.strip()]
    for line in lines:
        pieces = [piece for piece in line.split(",") if piece.strip()]
        short = all(len(piece.split()) <= _MOST_WORDS and not is_talk(piece) for piece in pieces)
        few = len(pieces) == 2 and len(lines) == 1 and all(piece.strip(" \"'“*")[:1].isupper() for piece in pieces)
        if short and (len(pieces) > 2 or few):
            return [Item(bare(piece), None) for piece in pieces]
    return []


def _identifiers(text: str, candidates: Candidates) -> Iterator[Item]:
    return (Item(found[0], candidates.by_number(int(found[1]))) for found in _IDENTIFIER.finditer(text))


def marked_pieces(text: str) -> Iterator[str]:
    """Yield the pieces of a text in bold or quotes, without these marks."""
    return (next(filter(None, found.groups())) for found in _MARKED.finditer(text))


def _marked(text: str, candidates: Candidates) -> Iterator[Item]:
    for piece in marked_pieces(text):
        place = candidates.titles.whole(piece)
        if place is not None:
            yield Item(bare(piece), place)


def _pieces(text: str, candidates: Candidates) -> Iterator[Item]:
    rows = Rows(candidates)
    return (Item(entry.text, entry.title) for line in text.split("\n") for entry in rows.pieces(line))
