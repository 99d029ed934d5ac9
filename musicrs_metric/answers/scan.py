"""All lists of an answer, in the order in which they stand: JSON, tables, rows, lines."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby

from .candidates import Candidates
from .fields import Table
from .found import FoundList, from_entries
from .headings import Heading, heading_of, is_worst_first, purpose
from .json_lists import json_lists
from .line_list import LineList
from .lines import Line, is_unknown_item, read_paragraph
from .rows import Row, Rows
from .tables import from_table, tables
from .values import Values


def scan(text: str, candidates: Candidates) -> list[FoundList]:
    """Find the lists of an answer; lists that name nothing are among them.

    Args:
        text: Plain lines.
        candidates: The pool.
    """
    rows = Rows(candidates)
    in_json, text = json_lists(text, Values(candidates, rows))
    lines = text.split("\n")
    in_tables = list(tables(lines, candidates, rows))
    for table in in_tables:
        lines[table.start : table.end] = [""] * (table.end - table.start)
    ready: dict[int, list[FoundList | Table]] = {}
    every: list[FoundList | Table] = [*in_json, *in_tables]
    for found in every:
        ready.setdefault(found.start, []).append(found)
    scanner = _Scanner(candidates)
    for is_blank, group in groupby(enumerate(lines), key=lambda pair: not pair[1].strip()):
        paragraph = list(group)
        read = [None] * len(paragraph) if is_blank else read_paragraph(paragraph, candidates, rows)
        has_items = any(line is not None and line.entry is not None for line in read)
        for (at, _), line in zip(paragraph, read, strict=True):
            if line is not None:
                scanner.line(line, has_items)
            for found in ready.get(at, []):
                scanner.ready(found)
        scanner.close()
    return scanner.lists


class _Scanner:
    """Collects lists line by line, each with the heading in front of it."""

    def __init__(self, candidates: Candidates) -> None:
        self.lists: list[FoundList] = []
        self._candidates = candidates
        self._open = LineList(candidates)
        self._before: list[str] = []  # the lines since the last item

    def line(self, line: Line, among_items: bool) -> None:
        """Take the next line; `among_items` tells whether its paragraph has lines that name something."""
        if line.row is not None:
            self.close()
            self._row(line, line.row)
        elif line.entry is not None and not self._open.is_remark(line):
            heading = heading_of(self._before)
            if self._open.is_over(line, heading.purpose if self._before else None):
                self.close()
            if not self._open.n_named:
                self._open.begin(line.kind, heading, follows_directly=not self._before)
            self._open.add(line)
            self._before = []
        else:
            if is_unknown_item(line) and (line.kind != "bare" or among_items):
                self._open.add(line)
            self._before.append(line.text)

    def ready(self, found: FoundList | Table) -> None:
        """Take a list in JSON, or a table."""
        self.close()
        heading, direct = heading_of(self._before), not self._before
        if isinstance(found, Table):
            table = from_table(found, self._candidates, heading, follows_directly=direct)
            if table is None:
                return
            self.lists.append(table)
        else:
            # A key says what the list is, unless the words in front of the object say more.
            by_words = heading.purpose in ("draft", "excluded", "final") or found.purpose is None
            says = heading.purpose if by_words else found.purpose
            is_headed = heading.is_explicit or not by_words
            self.lists.append(replace(found, purpose=says, is_headed=is_headed, follows_directly=direct))
        self._before = []

    def close(self) -> None:
        """End the list of lines that is being read."""
        found = self._open.close()
        if found is not None:
            self.lists.append(found)

    def _row(self, line: Line, row: Row) -> None:
        heading = heading_of(self._before)
        says = purpose(row.label) if any(map(str.isalpha, row.label)) else None
        if says is not None:
            heading = Heading(says, True, is_worst_first(row.label))
        self.lists.append(
            from_entries(
                row.kind,
                row.entries,
                self._candidates,
                lines=(line.at, line.at),
                heading=heading._replace(is_worst_first=heading.is_worst_first and not row.is_rising),
                follows_directly=not self._before,
            )
        )
        self._before = []
