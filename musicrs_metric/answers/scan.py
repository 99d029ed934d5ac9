"""All lists of an answer, in the order in which they end: JSON, tables, rows, lines."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby

from .candidates import Candidates, Entry
from .found import FoundList, Kind, from_entries
from .headings import Purpose, is_heading, is_worst_first, line_purpose, purpose
from .json_lists import json_lists
from .lines import Line, is_unknown_item, main_kind, read_paragraph
from .rows import Row, Rows
from .tables import Table, from_table, tables
from .values import Values
from .wrapping import bare

_HEADING_LINES = 3
_MOST_WORDS_BETWEEN = 12


def scan(text: str, candidates: Candidates) -> list[FoundList]:
    """Find the lists of an answer; lists that name nothing are among them.

    Args:
        text: Plain lines.
        candidates: The pool.
    """
    rows = Rows(candidates)
    values, text = json_lists(text, Values(candidates, rows))
    lines = text.split("\n")
    found_tables = list(tables(lines, candidates, rows))
    for table in found_tables:
        lines[table.start : table.end] = [""] * (table.end - table.start)
    scanner = _Scanner(candidates, rows)
    ready: dict[int, list[FoundList | Table]] = {}
    for made in (*values, *found_tables):
        ready.setdefault(made.start, []).append(made)
    for is_blank, group in groupby(enumerate(lines), key=lambda pair: not pair[1].strip()):
        paragraph = list(group)
        read = [] if is_blank else read_paragraph(paragraph, candidates, rows)
        for place, (at, _) in enumerate(paragraph):
            if not is_blank:
                scanner.line(read[place], any(line.entry is not None for line in read))
            for made in ready.get(at, []):
                scanner.made(made)
        scanner.close()
    return scanner.lists


class _Scanner:
    """Collects lists line by line."""

    def __init__(self, candidates: Candidates, rows: Rows) -> None:
        self.lists: list[FoundList] = []
        self._candidates, self._rows = candidates, rows
        self._current: list[Line] = []
        self._purpose: Purpose | None = None
        self._heading: list[str] = []
        self._headed = False
        self._before: list[str] = []  # lines since the last list

    def line(self, line: Line, among_items: bool) -> None:
        """Take the next line.

        Args:
            line: The line.
            among_items: Whether its paragraph has lines that name something.
        """
        if line.row is not None:
            self.close()
            self._row(line, line.row)
        elif line.entry is not None and not self._is_remark(line):
            if self._current and self._starts_anew(line):
                self.close()
            if not self._named():
                # Lines that name nothing in front of the first that does belong to the list where they look like it.
                self._current = [other for other in self._current if other.kind == line.kind]
                self._purpose, self._heading, self._headed = (
                    self._purpose_before(),
                    list(self._before),
                    self._is_headed(),
                )
            self._current.append(line)
            self._before = []
        else:
            if is_unknown_item(line) and (line.kind != "bare" or among_items):
                self._current.append(line)
            if line.text.strip():
                self._before.append(line.text)

    def made(self, made: FoundList | Table) -> None:
        """Take a list in JSON, or a table."""
        self.close()
        before, direct = self._purpose_before(), not self._before
        if isinstance(made, Table):
            table = from_table(made, self._candidates, before, follows_directly=direct)
            if table is not None:
                self._add(replace(table, is_headed=self._is_headed()))
        else:
            says = before if before in ("draft", "excluded", "final") else made.purpose or before
            self._add(
                replace(made, purpose=says, is_headed=self._is_headed() or says != before, follows_directly=direct)
            )

    def close(self) -> None:
        """End the list of lines that is being read."""
        lines, self._current = self._current, []
        named = [line for line in lines if line.entry is not None]
        kind: Kind = main_kind(lines) if named else next((line.kind for line in lines if line.kind != "bare"), "bare")
        indent = min((line.indent for line in named or lines if line.kind == kind), default=0)
        kept = [
            line
            for line in lines
            if line.entry is not None or (line.kind == kind and (line.indent == indent or kind == "bare"))
        ]
        while named and kept[-1].entry is None and kept[-1].kind == "bare" and line_purpose(kept[-1].text):
            kept.pop()
        if not kept or (not named and kind == "bare"):
            return
        entries = [line.entry or Entry(bare(line.text)) for line in kept]
        self._add(
            from_entries(
                kind, entries, self._candidates, lines=(kept[0].at, kept[-1].at), purpose=self._purpose if named else None,
                is_headed=self._headed, follows_directly=not self._heading, is_worst_first=bool(self._heading) and is_worst_first(self._heading[-1]),
            ),
            keep_before=True,
        )  # fmt: skip

    def _add(self, found: FoundList, *, keep_before: bool = False) -> None:
        self.lists.append(found)
        if not keep_before:
            self._before = []

    def _row(self, line: Line, row: Row) -> None:
        says = purpose(row.label) if any(map(str.isalpha, row.label)) else None
        heading = row.label if says else self._before[-1] if self._before else ""
        self._add(
            from_entries(
                row.kind, row.entries, self._candidates, lines=(line.at, line.at), purpose=says or self._purpose_before(),
                is_headed=says is not None or self._is_headed(),
                follows_directly=not self._before, is_worst_first=is_worst_first(heading),
            )
        )  # fmt: skip

    def _named(self) -> list[Line]:
        return [line for line in self._current if line.entry is not None]

    def _is_remark(self, line: Line) -> bool:
        """Whether a line of another kind than the list says more than a title: it is about an item of the list."""
        named = self._named()
        return bool(named) and line.kind != named[0].kind and not (line.entry is not None and line.entry.is_plain)

    def _starts_anew(self, line: Line) -> bool:
        if self._purpose_before() not in (None, "more"):
            return bool(self._before)
        named = self._named()
        entry = line.entry
        places = {item.place for item in self._candidates.items([other.entry for other in named if other.entry])}
        place = self._candidates.items([entry])[0].place if entry else None
        if len(named) > 1 and place in places and len(places) == len(self._candidates):
            return True
        if entry is None or entry.first != 1 or len(named) < 2 or line.kind != "number":
            return False
        counted = named[0].entry is not None and named[0].entry.first == 1
        return counted and (not self._candidates.numbered or place in places)

    def _purpose_before(self) -> Purpose | None:
        return line_purpose(self._heading_before())

    def _is_headed(self) -> bool:
        return is_heading(self._heading_before())

    def _heading_before(self) -> str:
        """The last line before the next list that says what it is."""
        for line in reversed(self._before[-_HEADING_LINES:]):
            if line_purpose(line) is not None:
                return line
            if len(line.split()) > _MOST_WORDS_BETWEEN:
                break
        return ""
