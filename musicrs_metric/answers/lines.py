"""Answers that have an item a line: numbered, bulleted, or bare."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from .items import decisive, is_talk, item
from .result import Item
from .titles import Titles
from .wrapping import marker_kind


class _Line(NamedTuple):
    text: str
    kind: str | None  # of its marker
    place: int | None
    paragraph: int


def from_lines(text: str, titles: Titles) -> list[Item]:
    """Read an answer as a list with an item a line.

    The kind of list (numbered, bulleted, bare) is the one under which most candidates are named. A line of another kind
    counts where it is a title and nothing else; a line of this kind that names nothing is an invented title, unless
    it is talk: a bare line counts only in one paragraph with lines that name something.

    Args:
        text: What is visible of an answer.
        titles: The pool.
    """
    lines = list(_lines(text, titles))
    kind = _kind(lines)
    lines = [line if line.kind == kind else line._replace(place=titles.whole(line.text)) for line in lines]
    listing = {line.paragraph for line in lines if line.place is not None}
    listed = [
        line
        for line in lines
        if line.place is not None
        or (line.kind == kind and (kind is not None or line.paragraph in listing) and not is_talk(line.text))
    ]
    paragraphs = groupby(listed, key=lambda line: line.paragraph)
    return decisive([[item(line.text, line.place) for line in paragraph] for _, paragraph in paragraphs])


def _kind(lines: list[_Line]) -> str | None:
    named = Counter(line.kind for line in lines if line.place is not None)
    if named:
        return named.most_common(1)[0][0]
    kinds = {line.kind for line in lines}
    return next((kind for kind in ("number", "bullet") if kind in kinds), None)


def _lines(text: str, titles: Titles) -> Iterator[_Line]:
    paragraph = 0
    for line in text.split("\n"):
        if not line.strip():
            paragraph += 1
        else:
            kind = None if titles.is_title(line) else marker_kind(line)
            yield _Line(line, kind, titles.find(line, listed=kind is not None), paragraph)
