"""Lists with an item on a line: numbered, bulleted, or bare."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple

from .candidates import Candidates
from .entry import Entry
from .headings import line_purpose
from .items import is_talk
from .rows import Row, Rows
from .wrapping import bare, marker

_NAMED_NUMBER = re.compile(
    r"[\s*_]*(?:song|track|item|candidate|title|option|id|number|no|nr)\b\W{0,3}\d{1,4}[\])*_]{0,3}\s?[:：.–—-]",
    re.IGNORECASE,
)

LineKind = Literal["number", "bullet", "bare"]


class Line(NamedTuple):
    """A line of an answer.

    Attributes:
        at: Its number, from 0.
        text: The line.
        kind: By its marker.
        indent: White space in front of it.
        entry: The candidate that it begins with, or its identifier; None where there is none.
        row: The several candidates that it lists.
    """

    at: int
    text: str
    kind: LineKind
    indent: int
    entry: Entry | None
    row: Row | None


def read_paragraph(lines: Sequence[tuple[int, str]], candidates: Candidates, rows: Rows) -> list[Line]:
    """Read lines without a blank one between them: each as an item, as a row, or as neither.

    A row whose pieces are all candidates and nothing else is a row. Where lines begin with a candidate each, what
    follows it (an artist, a remark) makes no row of them.

    Args:
        lines: The lines with their numbers.
        candidates: The pool.
        rows: The reader of rows.
    """
    read = [_line(at, text, candidates, rows) for at, text in lines]
    n_items = sum(line.entry is not None for line in read)
    return [_decided(line, n_items, candidates) for line in read]


def _line(at: int, text: str, candidates: Candidates, rows: Rows) -> Line:
    is_title = candidates.titles.is_title(text)
    found = None if is_title else marker(text)
    kind: LineKind = found.kind if found else "bare"
    entry = candidates.entry(text, listed=found is not None)
    if entry is None and found is None:
        entry = _with_colon(text, candidates)
    if entry is not None and found is None and entry.title is None and not _is_alone(entry, text):
        entry = None
    row = None if is_title else rows.read(text) or (rows.labelled(text) or rows.sparse(text) if entry is None else None)
    return Line(at, text, kind, len(text) - len(text.lstrip()), entry, row)


def _with_colon(text: str, candidates: Candidates) -> Entry | None:
    """A bare line that begins with a whole title and a colon."""
    title, colon, rest = text.partition(":")
    place = candidates.titles.whole(title) if colon else None
    if place is None:
        return None
    entry = candidates.entry(text, listed=True)
    return (
        entry
        if entry is not None and entry.title == place
        else Entry(bare(title), place, is_plain=not rest.strip(" *_"))
    )


def _is_alone(entry: Entry, text: str) -> bool:
    """Check whether a bare line that begins with a number is an item: its form says so, or nothing follows."""
    has_form = text.lstrip(" \t*_`>")[:1] in "[【(#" or _NAMED_NUMBER.match(text) is not None
    has_number = entry.second is not None or entry.score is not None
    return entry.is_plain or has_form or has_number or not any(map(str.isspace, text.strip()))


def _decided(line: Line, n_items: int, candidates: Candidates) -> Line:
    """The line as a row or as an item, not both."""
    if line.row is None or line.entry is None:
        return line
    few = len([entry for entry in line.row.entries if entry.title is not None or entry.first is not None]) <= 2
    heads = n_items > 1 and line.entry.title is not None and not line.row.label
    if (
        heads
        and line.row.kind == "row"
        and ((few and line.kind != "bare" and not candidates.numbered) or not line.row.is_complete)
    ):
        return line._replace(row=None)
    if line.row.is_plain or not heads or line.row.kind == "chain":
        return line._replace(entry=None)
    has_colon = ":" in line.row.entries[0].text
    return line._replace(row=None) if has_colon or line.kind != "bare" else line._replace(entry=None)


def is_unknown_item(line: Line) -> bool:
    """Check whether a line that names nothing may be an invented title in a list."""
    return line.entry is None and line.row is None and not is_talk(line.text) and line_purpose(line.text) is None


def main_kind(lines: Sequence[Line]) -> LineKind:
    """The kind of most lines that name something, the first of them in doubt; where none does, that of a marker."""
    named = Counter(line.kind for line in lines if line.entry is not None)
    if named:
        return named.most_common(1)[0][0]
    return next((line.kind for line in lines if line.kind != "bare"), "bare")
