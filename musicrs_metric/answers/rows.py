"""Lists with several items on a line, with something between them: `[3] > [1]`, `A, B, C`, `1. A 2. B`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from .candidates import Candidates
from .entry import Entry
from .found import Kind, distinct
from .items import is_talk
from .separators import COMMA, COUNT, EDGES, RISING, SEPARATORS, counting, gaps
from .versions import starts_with_part
from .wrapping import bare

_NUMBERS_ONLY = re.compile(
    r"[\s(*_`]*-?\d{1,9}(?:[ *_`]+-?\d{1,9}){2,2000}[\s)*_`.]*|\s*\[-?\d{1,9}\](?:\s*\[-?\d{1,9}\]){1,2000}\s*"
)
_LABEL_END = re.compile(
    r"[:：]\s?|\b(?:is|are|be|follows|order|ranking|answer|with|go|say|choose|pick|suggest|recommend|propose"
    r"|so)\b[:,]?\s+(?=[\[\d\"“*#(\w])"
)
_MOST_LABELS, _MOST_WORDS = 6, 8
_LAST_NUMBER = re.compile(r"(?<![\w.,/])[\[(#]?\d{1,9}[\])]?\s{0,9}$")
_CLAUSE = re.compile(r"[.,:;]\s")
_AND = re.compile(r"\s(?:and|und|et|y|e|en|&)\s", re.IGNORECASE)
_LONGEST_LABEL = 300


class Row(NamedTuple):
    """A line that lists several candidates.

    Attributes:
        kind: "chain" or "row".
        entries: Its pieces; those that name nothing have neither title nor number.
        label: What stands in front of the first, such as "Ranking:".
        is_plain: Whether each piece is a candidate and nothing else.
        is_complete: Whether each piece names a candidate.
        is_rising: Whether the line has the best last, with `<`; the entries have it first.
    """

    kind: Kind
    entries: list[Entry]
    label: str
    is_plain: bool
    is_complete: bool
    is_rising: bool = False


class Rows:
    """Reads lines as rows.

    Args:
        candidates: The pool; its titles may hold separators themselves.
    """

    def __init__(self, candidates: Candidates) -> None:
        self._candidates = candidates
        titles = list(candidates.pool.place)
        self._most_joined = {
            separator: 1 + max((len(separator.findall(f"{title} ")) for title in titles), default=0)
            for _, separator in SEPARATORS
        }

    def read(self, line: str) -> Row | None:
        """The line as a row of two candidates or more: under the separator by which it names most; None for others."""
        best, most, by = None, (1, False), COUNT
        for kind, separator in SEPARATORS:
            if not separator.search(line):
                continue
            for row in self._under(kind, separator, line):
                key = (self._n_named(row), row.is_plain)
                # Identifiers that rise from 1, as in `[1] > [2]`, look like counts.
                is_counted = best is not None and by is COUNT and kind == "chain"
                if key[0] > 1 and key > most and (best is None or key[0] > most[0] or is_counted):
                    best, most, by = row, key, separator
        if best is None and self._candidates.numbered and _NUMBERS_ONLY.fullmatch(line):
            pieces = re.findall(r"-?\d+", line)
            entries = [Entry(piece, first=int(piece), is_plain=True) for piece in pieces]
            best = Row("row", entries, "", True, True)
            return best if self._n_named(best) > 1 else None
        return best

    def labelled(self, line: str) -> Row | None:
        """A line that names one candidate behind a label, such as "Second: [4]"."""
        label, entry = self._first("row", line)
        if entry is None or not label.rstrip().endswith((":", "：")) or not entry.is_plain:
            return None
        return Row("row", [entry], label, True, True)

    def sparse(self, line: str) -> Row | None:
        """A line that names one candidate among titles that the pool lacks; its pieces are short and capitalised."""
        for kind, separator in SEPARATORS:
            for row in self._under(kind, separator, line) if separator.search(line) else ():
                titles = all(
                    len(entry.text.split()) <= _MOST_WORDS and not entry.text[:1].islower() for entry in row.entries
                )
                if titles and len(row.entries) > (1 if kind == "chain" else 2) and self._n_named(row) == 1:
                    return row
        return None

    def pieces(self, line: str) -> list[Entry]:
        """The pieces between commas that name a candidate, in a line that is no row but prose."""
        entries = (self._candidates.entry(piece, listed=False) for piece in COMMA.split(line))
        return [entry for entry in entries if entry is not None and entry.title is not None]

    def _under(self, kind: Kind, separator: re.Pattern[str], line: str) -> Iterator[Row]:
        if separator is COUNT:
            counts = counting(line)
            if counts or self._candidates.numbered:
                entries = self._counted(line, counts or [gap.start() for gap in separator.finditer(line)])
                if counts or all(entry.title is not None for entry in entries):
                    yield self._row(kind, entries, "")
            return
        for borders in gaps(separator, line):
            entries, label = self._split(kind, separator, line, borders)
            if separator is RISING:
                entries.reverse()
            yield self._row(kind, entries, label)._replace(is_rising=separator is RISING)

    def _row(self, kind: Kind, entries: list[Entry], label: str) -> Row:
        known = [entry.title is not None or entry.first is not None for entry in entries]
        return Row(kind, entries, label, all(entry.is_plain for entry in entries), all(known))

    def _n_named(self, row: Row) -> int:
        return len(distinct(self._candidates.items(row.entries)))

    def _counted(self, line: str, starts: list[int]) -> list[Entry]:
        if line[: starts[0]].strip(EDGES + ":"):
            starts = [0, *starts] if self._candidates.entry(line[: starts[0]], listed=True) else starts
        pieces = [line[start:end] for start, end in zip(starts, [*starts[1:], len(line)], strict=True)]
        return [self._entry(piece) for piece in (piece.rstrip(" ,;") for piece in pieces)]

    def _entry(self, piece: str, *, listed: bool = True) -> Entry:
        return self._candidates.entry(piece, listed=listed) or Entry(bare(piece))

    def _split(
        self, kind: Kind, separator: re.Pattern[str], line: str, borders: list[tuple[int, int]]
    ) -> tuple[list[Entry], str]:
        """The entries between borders; neighbours are joined again where together they are a title."""
        starts, ends = [0, *(end for _, end in borders)], [*(start for start, _ in borders), len(line)]
        titles, most = self._candidates.titles, self._most_joined[separator]
        entries: list[Entry] = []
        label, is_named = "", False
        at = 0
        while at < len(starts):
            last = self._last_joined(line, starts, ends, at, most)
            piece = line[starts[at] : ends[last]]
            if last > at:
                entry: Entry | None = Entry(bare(piece), titles.whole(piece), is_plain=True)
            elif at == 0:
                label, entry = self._first(kind, piece)
            else:
                entry = self._piece(kind, piece)
                if entry is None and not is_named:
                    more, entry = self._first(kind, piece)
                    if more:  # a sentence with commas of its own in front of the list
                        label, entries = f"{line[: starts[at]]}{more}", []
            pair = self._last_pair(piece) if entry is None and last == len(starts) - 1 else []
            is_named = is_named or entry is not None
            if entry is not None:
                entries.append(entry)
            elif pair:
                entries += pair
            elif entries and starts_with_part(piece):
                entries[-1] = Entry(f"{entries[-1].text}, {bare(piece)}")  # "Lanterns, Pt. 2" is one work
            elif any(map(str.isalnum, piece)) and not is_talk(piece):
                entries.append(Entry(bare(piece)))
            at = last + 1
        return entries, label

    def _last_pair(self, piece: str) -> list[Entry]:
        """The two candidates of a last piece such as "A and B"."""
        for word in _AND.finditer(piece):
            pair = [self._piece("row", half) for half in (piece[: word.start()], piece[word.end() :])]
            if pair[0] is not None and pair[1] is not None:
                return [pair[0], pair[1]]
        return []

    def _last_joined(self, line: str, starts: list[int], ends: list[int], at: int, most: int) -> int:
        """The last of the pieces from `at` on that are one title together."""
        titles = self._candidates.titles
        joined = range(min(at + most, len(starts)) - 1, at, -1)
        return next((last for last in joined if titles.whole(line[starts[at] : ends[last]]) is not None), at)

    def _piece(self, kind: Kind, piece: str) -> Entry | None:
        entry = self._candidates.entry(piece, listed=False)
        if entry is None or kind == "chain" or entry.is_plain or entry.title is not None:
            return entry
        # Between commas a number with words behind it is part of a sentence, unless the words are in brackets.
        rest = piece.strip(EDGES)[len(str(entry.first)) :].lstrip(" ])*_`")
        return entry if entry.is_bracketed or not rest or rest[0] in "(:-–—.," else None

    def _first(self, kind: Kind, piece: str) -> tuple[str, Entry | None]:
        """The first piece, apart from a label in front of it."""
        entry = self._piece(kind, piece)
        ends = [label.end() for label in _LABEL_END.finditer(piece[:_LONGEST_LABEL])][-_MOST_LABELS:]
        last = _LAST_NUMBER.search(piece) if kind == "chain" and self._candidates.numbered else None
        if last and (entry is None or (entry.title is None and _CLAUSE.search(piece, 0, last.start()))):
            return piece[: last.start()], self._candidates.entry(last[0], listed=True)
        if entry is not None and (entry.is_plain or not ends):
            return "", entry
        for end in ends if entry is None else ends[-1:]:
            behind = self._piece(kind, piece[end:])
            if behind is not None and (entry is None or self._candidates.titles.whole(piece[:end]) is None):
                return piece[:end], behind
        return "", entry
