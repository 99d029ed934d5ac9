"""Answers that have several items a line, with something between them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .items import decisive, is_talk, item, n_named
from .result import Item
from .titles import Titles

# In the order of preference where several fit equally well.
SEPARATORS = (
    re.compile(r"(?:^|(?<=\s))[(\[]?\d{1,3}[.)\]](?=\s)"),  # 1. This 2. That
    re.compile(r">+|→|≻"),
    re.compile(r"[;；]"),
    re.compile(r"\||(?<=\s)[•·](?=\s)"),
    re.compile(r"[,，、]"),
)


class Separated:
    """Reads answers whose items stand between separators of one kind.

    Args:
        separator: What stands between two items.
        titles: The pool.
        candidates: Its titles, which may hold the separator themselves.
    """

    def __init__(self, separator: re.Pattern[str], titles: Titles, candidates: Iterable[str]) -> None:
        self._separator, self._titles = separator, titles
        self._most_joined = 1 + max((len(separator.findall(f"{title} ")) for title in candidates), default=0)

    def items(self, text: str) -> list[Item]:
        """The items of the lines that are lists: those with two candidates or more, and those that are one title.

        Where there is no such line, all lines count that name something, for want of better ones.

        Args:
            text: What is visible of an answer.
        """
        if not self._separator.search(text):
            return []
        rows = [row for line in text.split("\n") if n_named(row := self._row(line))]
        lists = [row for row in rows if n_named(row) > 1 or len(row) == 1]
        return decisive(lists or rows)

    def _row(self, line: str) -> list[Item]:
        """The items of a line; neighbours are joined again where together they are a title."""
        gaps = list(self._separator.finditer(line))
        starts, ends = [0, *(gap.end() for gap in gaps)], [*(gap.start() for gap in gaps), len(line)]
        found: list[Item] = []
        at = 0
        while at < len(starts):
            for last in range(min(at + self._most_joined, len(starts)) - 1, at, -1):
                together = line[starts[at] : ends[last]]
                if self._titles.is_title(together):
                    found.append(item(together, self._titles.whole(together)))
                    at = last + 1
                    break
            else:
                piece = line[starts[at] : ends[at]]
                place = self._titles.find(piece, listed=at == 0)
                if place is not None or not is_talk(piece):
                    found.append(item(piece, place))
                at += 1
        return found


def invented(text: str) -> list[Item]:
    """The items of an answer that names no candidate: of the first line with three short pieces between commas."""
    for line in text.split("\n"):
        pieces = [piece for piece in line.split(",") if piece.strip()]
        if len(pieces) > 2 and all(len(piece.split()) <= 8 and not is_talk(piece) for piece in pieces):
            return [item(piece, None) for piece in pieces]
    return []
