"""A list of lines while it is read: which lines belong to it, and where it is over."""

from __future__ import annotations

from .candidates import Candidates
from .entry import Entry
from .found import FoundList, from_entries
from .headings import NO_HEADING, Heading, Purpose, line_purpose
from .lines import Line, LineKind, main_kind
from .wrapping import bare


class LineList:
    """Collects the lines of one list.

    Args:
        candidates: The pool.
    """

    def __init__(self, candidates: Candidates) -> None:
        self._candidates = candidates
        self._reset()

    def _reset(self) -> None:
        self.n_named = 0
        self._lines: list[Line] = []
        self._first: Line | None = None
        self._places: set[int | None] = set()
        self._heading, self._follows_directly = NO_HEADING, False

    def begin(self, kind: LineKind, heading: Heading, *, follows_directly: bool) -> None:
        """Begin with a line that names a candidate; lines of its kind in front of it, which name none, belong to it."""
        self._lines = [line for line in self._lines if line.kind == kind]
        self._heading, self._follows_directly = heading, follows_directly

    def add(self, line: Line) -> None:
        """Take a line: one that names a candidate, or one that may be an invented title."""
        self._lines.append(line)
        if line.entry is not None:
            self.n_named += 1
            self._first = self._first or line
            self._places.add(self._place(line.entry))

    def is_remark(self, line: Line) -> bool:
        """Check whether a line of another kind than the list says more than a title, about an item of the list."""
        return (
            self._first is not None
            and line.kind != self._first.kind
            and not (line.entry is not None and line.entry.is_plain)
        )

    def is_over(self, line: Line, says: Purpose | None) -> bool:
        """Check whether a line that names a candidate begins another list.

        It does behind a heading, where the numbers start again from 1, and where the whole pool has been named.

        Args:
            line: The line.
            says: What the lines since the last item say of it.
        """
        if says not in (None, "more"):
            return True
        place = self._place(line.entry) if line.entry is not None else None
        if place in self._places and len(self._places) == len(self._candidates) > 1:
            return True
        if self._first is None or self._first.entry is None or self.n_named < 2 or line.kind != "number":
            return False
        starts_again = line.entry is not None and line.entry.first == self._first.entry.first == 1
        return starts_again and (not self._candidates.numbered or place in self._places)

    def close(self) -> FoundList | None:
        """The list, or None where there is none; then begin again."""
        lines, n_named, heading, direct = self._lines, self.n_named, self._heading, self._follows_directly
        self._reset()
        kind = main_kind(lines)
        of_kind = [line for line in lines if line.kind == kind and (line.entry is not None or not n_named)]
        indent = min((line.indent for line in of_kind), default=0)
        kept = [line for line in lines if line.entry is not None or _is_item(line, kind, indent)]
        while n_named and kept[-1].entry is None and kept[-1].kind == "bare" and line_purpose(kept[-1].text):
            kept.pop()
        if not kept or (not n_named and kind == "bare"):
            return None
        return from_entries(
            kind,
            [line.entry or Entry(bare(line.text)) for line in kept],
            self._candidates,
            lines=(kept[0].at, kept[-1].at),
            heading=heading,
            follows_directly=direct,
        )

    def _place(self, entry: Entry) -> int | None:
        return self._candidates.items([entry])[0].place


def _is_item(line: Line, kind: LineKind, indent: int) -> bool:
    """Check whether a line that names nothing is an item all the same: one that looks like the others."""
    return line.kind == kind and (line.indent == indent or kind == "bare")
