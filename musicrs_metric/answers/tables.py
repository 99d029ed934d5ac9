"""Tables in plain text: with bars, as CSV or TSV under a header, and as records of `key: value` lines."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .candidates import Candidates
from .fields import from_records, role
from .found import FoundList, distinct
from .headings import Purpose
from .rows import Rows

_RULE = re.compile(r"[\s|:+=-]*-[\s|:+=-]*")
_DELIMITERS = ("\t", ";", ",")
_MOST_CELLS, _LONGEST_NAME = 12, 4
_KEYED = re.compile(
    r"\s*(?:[-*•]\s+|\d{1,4}[.)]\s+)?[\"'*_`]{0,3}([A-Za-z][A-Za-z _-]{0,24})[\"'*_`]{0,3}\s?:[*_]{0,2}\s+(\S.*)"
)
_KEYS = frozenset({"title", "id", "rank", "score"})


class Table(NamedTuple):
    """A table in lines of text.

    Attributes:
        start: Its first line.
        end: The line behind its last.
        records: Its rows by column.
    """

    start: int
    end: int
    records: list[dict[str, str]]


def tables(lines: Sequence[str], candidates: Candidates, rows: Rows) -> Iterator[Table]:
    """Find the tables among lines.

    Args:
        lines: The lines of an answer.
        candidates: The pool.
        rows: The reader of rows: lines with bars that each list several candidates are rows.
    """
    at = 0
    while at < len(lines):
        table = (
            _with_bars(lines, at, candidates, rows)
            or _delimited(lines, at, candidates)
            or _keyed(lines, at, candidates)
        )
        if table is not None:
            yield table
        at = table.end if table else at + 1


def from_table(
    table: Table, candidates: Candidates, purpose: Purpose | None, *, follows_directly: bool
) -> FoundList | None:
    """The list that a table is; None where no column names a candidate."""
    ordered = from_records(table.records, candidates)
    if ordered is None or not distinct(ordered[0]):
        return None
    listed, items, states = ordered
    return FoundList(
        "values", tuple(listed), tuple(items), table.start, table.end - 1, purpose,
        states_order=states, follows_directly=follows_directly,
    )  # fmt: skip


def _with_bars(lines: Sequence[str], start: int, candidates: Candidates, rows: Rows) -> Table | None:
    end = start
    while end < len(lines) and "|" in lines[end]:
        end += 1
    block = lines[start:end]
    cells = [_cells(line) for line in block if not _RULE.fullmatch(line) and any(map(str.isalnum, line))]
    if len(cells) < 2 or max(map(len, cells)) < 2:
        return None
    has_rule = any(map(_RULE.fullmatch, block))
    has_edge = all(line.lstrip().startswith("|") for line in block)
    if not (has_rule or has_edge or any(map(role, cells[0]))) and any(rows.read(line) for line in block):
        return None
    is_header = has_rule or any(map(role, cells[0]))
    if is_header and any(candidates.titles.whole(cell) is not None for cell in cells[0]):
        is_header = False
    names = _names(cells[0] if is_header else [], max(map(len, cells)))
    records = [dict(zip(names, row, strict=False)) for row in cells[is_header:]]
    return Table(start, end, records) if records else None


def _cells(line: str) -> list[str]:
    return [cell.strip(" \t*_`") for cell in line.strip().strip("|").split("|")][:_MOST_CELLS]


def _names(header: Sequence[str], width: int) -> list[str]:
    names = [*header[:_MOST_CELLS], *(str(at) for at in range(len(header), width))]
    return [name if name and names.index(name) == at else str(at) for at, name in enumerate(names)]


def _delimited(lines: Sequence[str], start: int, candidates: Candidates) -> Table | None:
    for delimiter in _DELIMITERS:
        if delimiter not in lines[start]:
            continue
        names = _split(lines[start], delimiter)
        roles = list(map(role, names))
        if len(names) < 2 or ("title" not in roles and "id" not in roles) or (None in roles and len(set(roles)) < 3):
            continue
        if any(len(name.split()) > _LONGEST_NAME or candidates.titles.whole(name) is not None for name in names):
            continue
        end = start + 1
        records: list[dict[str, str]] = []
        while end < len(lines) and lines[end].strip() and delimiter in lines[end]:
            cells = _split(lines[end], delimiter)
            surplus = len(cells) - len(names)
            if surplus > 0:  # a title with the delimiter in it
                title = roles.index("title") if "title" in roles else len(names) - 1
                cells[title : title + surplus + 1] = [delimiter.join(cells[title : title + surplus + 1])]
            records.append(dict(zip(names, cells, strict=False)))
            end += 1
        if records:
            return Table(start, end, records)
    return None


def _split(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line.strip()], delimiter=delimiter, skipinitialspace=True), [])
    except csv.Error:
        return line.split(delimiter)


def _keyed(lines: Sequence[str], start: int, candidates: Candidates) -> Table | None:
    """Records of lines such as `id: 4`; a key that comes again begins the next record."""
    records: list[dict[str, str]] = []
    end = at = start
    apart = False
    while at < len(lines):
        found = _KEYED.fullmatch(lines[at])
        if found is None and lines[at].strip():
            break
        if found:
            key = found[1].strip().lower()
            if not records and role(key) not in _KEYS:
                return None
            is_new = records and not any(key in record for record in records)
            after_blank = at > start and not lines[at - 1].strip()
            if candidates.titles.whole(found[1]) is not None or (is_new and after_blank):
                break
            if after_blank and key in records[-1] and len(records) > 1 and not apart:
                break  # records without blank lines between them ended here
            apart = apart or (after_blank and len(records) == 1)
            if not records or key in records[-1]:
                records.append({})
            records[-1][key] = found[2].strip().strip("\"',")
            end = at + 1
        elif not records:
            return None
        at += 1
    shared = [key for key in records[0] if all(key in record for record in records)] if len(records) > 1 else []
    return (
        Table(start, end, records)
        if any(role(key) in ("title", "id") for key in shared) and len(records[0]) > 1
        else None
    )
