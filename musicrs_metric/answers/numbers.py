"""Answers by number: identifiers in brackets, or lines of nothing but numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..matching import Pool
from .items import decisive
from .result import Item

_BRACKETED = re.compile(r"\[\s{0,3}(-?\d{1,9})\s{0,3}\]")
# Other scripts have punctuation of their own.
_AS_ASCII = str.maketrans("【】［］（）：，、；＞", "[][]():,,;>")
_LEAD = re.compile(r"(?:[^\[\]]{0,120}:)?[\s*_`>#+•(-]{0,20}(?:\d{1,4}[.):]\s{0,9})?[\s*_`(]{0,9}")
_SEPARATORS = (">", ",", ";", "→", "≻", "=", "|", "and", "then")

_PREFIX = re.compile(r"[^\d\[\]]{0,120}:")
_MARKER = re.compile(r"[\s*_]*\d{1,4}[.):]\s+(?=[#({]?-?\d)")
_OTHER = re.compile(r"[^\s\d#(){}.,;:>→≻*_`|-]")
_BARE = re.compile(r"(?<![\w.])(-?\d{1,9})(?!\w)")


class Numbers:
    """A pool that resolves numbers: its distinct candidates from 1, in the order of the pool.

    Args:
        pool: The candidates.
    """

    def __init__(self, pool: Pool) -> None:
        self._places = list(pool.place.values())

    def item(self, number: int, text: str) -> Item:
        """The item that a number is, in range or not."""
        return Item(text, self._places[number - 1] if 1 <= number <= len(self._places) else None)

    def goes_on(self, digits: str) -> bool:
        """Whether digits at which an answer was cut may be the first of a longer number."""
        return digits.isdecimal() and int(digits) * 10 <= len(self._places)

    def items(self, text: str) -> list[Item]:
        """Read an answer by number.

        Identifiers in brackets that start a line, alone or after "Ranking:" or a list marker, are the answer, with
        those that follow them behind a separator; the ones inside a sentence count where no line starts with one, and
        numbers without brackets where none has brackets, in lines that hold nothing else.

        Args:
            text: What is visible of an answer.
        """
        lines = text.translate(_AS_ASCII).split("\n")
        for numbers in (_leading, _BRACKETED.finditer, _bare):
            rows = [[self.item(int(match[1]), match[0]) for match in numbers(line)] for line in lines]
            if any(rows):
                return decisive(list(filter(None, rows)))
        return []


def _leading(line: str) -> Iterator[re.Match[str]]:
    lead = _LEAD.match(line)
    end = lead.end() if lead else 0
    first = True
    for match in _BRACKETED.finditer(line):
        between = line[end : match.start()].rstrip("\t *_`(").lower()
        if between and (first or not between.endswith(_SEPARATORS)):
            return
        yield match
        end, first = match.end(), False


def _bare(line: str) -> Iterator[re.Match[str]]:
    prefix = _PREFIX.match(line)
    start = prefix.end() if prefix else 0
    marker = _MARKER.match(line, start)
    start = marker.end() if marker else start
    return iter(()) if _OTHER.search(line, start) else _BARE.finditer(line, start)
