"""Tables in plain text: with bars, as CSV or TSV under a header, and as records of `key: value` lines."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence

from .candidates import Candidates
from .fields import Table, from_records, role
from .found import FoundList, distinct
from .headings import Heading
from .rows import Rows

_MARKED_NUMBER = re.compile(r"[*_`]+[\d.,#%/ ]+[*_`]+")
_RULE = re.compile(r"[\s|:+=-]*-[\s|:+=-]*")
_DELIMITERS = ("\t", ";", ",")
# A record of lines such as `id: 4`, as in YAML.
_PAIR = re.compile(
    r"\s*(?:[-*•]\s+|\d{1,4}[.)]\s+)?[\"'*_`]{0,3}([A-Za-z][A-Za-z _-]{0,24})[\"'*_`]{0,3}\s?:[*_]{0,2}\s+(\S.*)"
)
_KEYS = frozenset({"title", "id", "rank", "score"})
_MOST_CELLS, _LONGEST_NAME = 12, 4


def tables(lines: Sequence[str], candidates: Candidates, rows: Rows) -> Iterator[Table]:
    """Find the tables among lines.

    Args:
        lines: The lines of an answer.
        candidates: The pool.
        rows: The reader of rows: lines with bars that each list several candidates are rows.
    """
    at = known = 0  # up to `known` there are lines with bars or keys that are no table
    while at < len(lines):
        table: Table | None = None
        if at >= known:
            table, known = _with_bars(lines, at, candidates, rows)
        if table is None and known <= at:
            table, known = _keyed(lines, at, candidates)
        table = table or _delimited(lines, at, candidates)
        if table is not None:
            yield table
        at = table.end if table else at + 1


def from_table(table: Table, candidates: Candidates, heading: Heading, *, follows_directly: bool) -> FoundList | None:
    """The list that a table is.

    Args:
        table: The table.
        candidates: The pool.
        heading: What stands in front of it.
        follows_directly: Whether nothing stands between it and the list before it.

    Returns:
        The list; None where no column names a candidate.
    """
    ordered = from_records(table.records, candidates)
    if ordered is None or not distinct(ordered[0]):
        return None
    listed, items, states_order = ordered
    return FoundList(
        "values",
        tuple(listed),
        tuple(items),
        table.start,
        table.end - 1,
        heading.purpose,
        heading.is_explicit,
        states_order=states_order,
        follows_directly=follows_directly,
    )


def _with_bars(lines: Sequence[str], start: int, candidates: Candidates, rows: Rows) -> tuple[Table | None, int]:
    """The table with bars at a line, and the end of the lines with bars."""
    end = start
    while end < len(lines) and "|" in lines[end]:
        end += 1
    block = lines[start:end]
    cells = [_cells(line) for line in block if not _RULE.fullmatch(line) and any(map(str.isalnum, line))]
    if len(cells) < 2 or max(map(len, cells)) < 2:
        return None, end
    has_rule = any(map(_RULE.fullmatch, block))
    has_edge = all(line.lstrip().startswith("|") for line in block)
    has_names = any(map(role, cells[0]))
    if not (has_rule or has_edge or has_names) and any(rows.read(line) for line in block):
        return None, end
    names_candidate = any(candidates.titles.whole(cell) is not None for cell in cells[0])
    is_header = (has_rule or has_names) and not names_candidate
    names = _names(cells[0] if is_header else [], max(map(len, cells)))
    records = [dict(zip(names, row, strict=False)) for row in cells[is_header:]]
    return Table(start, end, records) if records else None, end


def _cells(line: str) -> list[str]:
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")][:_MOST_CELLS]
    # A title may hold such signs itself; the look-up of titles unwraps them where it does not.
    return [cell.strip("*_`") if _MARKED_NUMBER.fullmatch(cell) else cell for cell in cells]


def _names(header: Sequence[str], width: int) -> list[str]:
    names = [*header[:_MOST_CELLS], *(str(at) for at in range(len(header), width))]
    return [name if name and names.index(name) == at else str(at) for at, name in enumerate(names)]


def _delimited(lines: Sequence[str], start: int, candidates: Candidates) -> Table | None:
    """The table of separated values whose header is at a line."""
    for delimiter in _DELIMITERS:
        names = _split(lines[start], delimiter) if delimiter in lines[start] else []
        if not _is_header(names, candidates):
            continue
        roles = list(map(role, names))
        title = roles.index("title") if "title" in roles else len(names) - 1
        end = start + 1
        records: list[dict[str, str]] = []
        while end < len(lines) and delimiter in lines[end]:
            cells = _split(lines[end], delimiter)
            surplus = len(cells) - len(names)
            if surplus > 0:  # a title with the delimiter in it
                cells[title : title + surplus + 1] = [delimiter.join(cells[title : title + surplus + 1])]
            records.append(dict(zip(names, cells, strict=False)))
            end += 1
        if records:
            return Table(start, end, records)
    return None


def _is_header(names: Sequence[str], candidates: Candidates) -> bool:
    """Check whether cells are names of columns, one of them that of the candidates."""
    roles = list(map(role, names))
    if len(names) < 2 or not {"title", "id"} & set(roles) or (None in roles and len(set(roles)) < 3):
        return False
    return not any(len(name.split()) > _LONGEST_NAME or candidates.titles.whole(name) is not None for name in names)


def _split(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line.strip()], delimiter=delimiter, skipinitialspace=True), [])
    except csv.Error:
        return line.split(delimiter)


def _keyed(lines: Sequence[str], start: int, candidates: Candidates) -> tuple[Table | None, int]:
    """Read records at a line, and return the end of its lines; a key that comes again begins the next record."""
    records: list[dict[str, str]] = []
    keys: set[str] = set()
    end = start
    is_apart = after_blank = False
    for at in range(start, len(lines)):
        pair = _PAIR.fullmatch(lines[at])
        if pair is None:
            if lines[at].strip() or not records:
                break
            after_blank = True
            continue
        key = pair[1].strip().lower()
        is_first = not records
        begins = is_first or key in records[-1]
        if candidates.titles.whole(pair[1]) is not None or (is_first and role(key) not in _KEYS):
            break
        if after_blank and (key not in keys or (begins and len(records) > 1 and not is_apart)):
            break  # what stands behind the blank line looks otherwise
        is_apart = is_apart or (after_blank and len(records) == 1)
        if begins:
            records.append({})
        records[-1][key] = pair[2].strip().strip("\"',")
        keys.add(key)
        end, after_blank = at + 1, False
    return Table(start, end, records) if _is_table(records) else None, max(end, start)


def _is_table(records: Sequence[Mapping[str, str]]) -> bool:
    if len(records) < 2 or len(records[0]) < 2:
        return False
    return any(role(key) in ("title", "id") and all(key in record for record in records) for key in records[0])
