"""Records of lines such as `id: 4`, as in YAML."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from .candidates import Candidates
from .fields import Table, role

_PAIR = re.compile(
    r"\s*(?:[-*•]\s+|\d{1,4}[.)]\s+)?[\"'*_`]{0,3}([A-Za-z][A-Za-z _-]{0,24})[\"'*_`]{0,3}\s?:[*_]{0,2}\s+(\S.*)"
)
_KEYS = frozenset({"title", "id", "rank", "score"})


def keyed(lines: Sequence[str], start: int, candidates: Candidates) -> tuple[Table | None, int]:
    """Read records at a line; a key that comes again begins the next record.

    Args:
        lines: The lines of an answer.
        start: The line.
        candidates: The pool; a title in front of a colon is no key.

    Returns:
        The table, and the end of the lines that were read. None where the records have one field alone, or no field for
        the candidate in common.
    """
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
