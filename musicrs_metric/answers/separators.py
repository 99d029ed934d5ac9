"""Separators between the items of a row, and the places where they do not count."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .found import Kind

COUNT = re.compile(r"(?:^|(?<=\s))[(\[]?(\d{1,3})[.)\]:](?=\s)")  # 1. This 2. That
# In the order of preference where several fit equally well.
SEPARATORS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("row", COUNT),
    ("chain", re.compile(r"[-=]{0,2}(?:>|＞|&gt;)+=?|→|➔|⇒|≻|(?<=[\d\]])\s?=\s?(?=[\[\d])")),
    ("chain", re.compile(r"(?<=[\d\]\w])\s?[<≺]\s?(?=[\[\d\w])")),
    ("chain", re.compile(r",?\s(?:and then|then|followed by|and finally|and lastly|finally)\s(?=[\[\d\"“*\w])")),
    ("row", re.compile(r"[;；]")),
    ("row", re.compile(r"\||(?<=\s)[•·/](?=\s)")),
    ("row", re.compile(r"[,，、](?!\d{3}\b)")),
)
RISING, COMMA = SEPARATORS[2][1], SEPARATORS[-1][1]
# A comma inside of these belongs to a title or to a remark.
_WRAPPED = re.compile(
    r"\*\*[^*\n]{1,200}\*\*|(?<!\w)\"[^\"\n]{1,200}\"(?!\w)|“[^”\n]{1,200}”|«[^»\n]{1,200}»"
    r"|\((?!\d{1,4}\))[^()\n]{1,200}\)|(?<!\])\[[^\[\]\n]{1,200}\]"
)

EDGES = " \t*_`[](){}\"'.$"


def counting(line: str) -> list[int]:
    """Positions of the numbers 1, 2, 3 ... of a row; numbers within titles do not count."""
    starts: list[int] = []
    end = 0
    for number in COUNT.finditer(line):
        if int(number[1]) == len(starts) + 1 and (not starts or line[end : number.start()].strip(EDGES)):
            starts.append(number.start())
            end = number.end()
        elif not starts:
            break
    return starts if len(starts) > 1 else []


def gaps(separator: re.Pattern[str], line: str) -> Iterator[list[tuple[int, int]]]:
    """Positions of a separator outside of quotes, bold and brackets, or of all of them if none is outside.

    Args:
        separator: One of `SEPARATORS`.
        line: A line.
    """
    everywhere = [(gap.start(), gap.end()) for gap in separator.finditer(line)]
    wrapped = [(span.start(), span.end()) for span in _WRAPPED.finditer(line)]
    outside = list(_outside(everywhere, wrapped))
    if outside:
        yield outside
    if len(outside) < len(everywhere):
        yield everywhere


def _outside(borders: list[tuple[int, int]], wrapped: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The borders that are not within a wrapped piece; both are in order."""
    at = 0
    for start, end in borders:
        while at < len(wrapped) and wrapped[at][1] <= start:
            at += 1
        if at == len(wrapped) or start < wrapped[at][0]:
            yield start, end
