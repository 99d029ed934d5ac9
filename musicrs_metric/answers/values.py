"""JSON in answers, by its meaning: which part of it is the list, and in which order it puts the candidates.

list of titles or numbers   as listed.
list of objects or rows     a table: by rank, else by score, else as listed (`fields`).
map                         by ranks or scores (`maps`).
object with lists           the list whose key says that it is the ranking. Where no key says so, all lists in order if
                            they share no candidate, else the last. Keys that name the pool, a draft or what is left out
                            come last.
text in a value             a row, or JSON again.

A `name`, `title`, `id`, `answer` or `number` beside a list is never the list.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from .candidates import Candidates
from .fields import from_records, role
from .found import distinct
from .headings import purpose
from .json_values import json_values
from .listing import Listing, chosen_part, joined_parts
from .maps import count_of, map_hint, read_map
from .result import Item
from .rows import Rows
from .scores import in_order, meaning, to_number

_DEEPEST = 8
_LISTS = frozenset({"final", "ranking"})
_BRACKETS = ("[", "{")


class Values:
    """Reads JSON values against a pool.

    Args:
        candidates: The pool.
        rows: The reader of rows, for text in values.
    """

    def __init__(self, candidates: Candidates, rows: Rows) -> None:
        self._candidates, self._rows = candidates, rows

    def read(self, value: Any, depth: int = 0) -> Listing | None:
        """The list that a value holds, or None.

        Args:
            value: A value of JSON.
            depth: How deep it is inside of another.
        """
        if depth > _DEEPEST or not value:
            return None
        if isinstance(value, str):
            return self._text(value, depth)
        if isinstance(value, list):
            return self._list(value, depth)
        return self._object(value, depth) if isinstance(value, dict) else None

    def _text(self, text: str, depth: int) -> Listing | None:
        if text.lstrip()[:1] in _BRACKETS:
            found = next(json_values(text), None)
            if found is not None:
                return self.read(found.value, depth + 1)
        lines = [line for line in text.split("\n") if line.strip()]
        row = self._rows.read(text) if len(lines) == 1 else None
        entries = (
            [self._candidates.entry(line, listed=True) for line in lines]
            if len(lines) > 1
            else row.entries
            if row
            else []
        )
        items = self._candidates.items([entry for entry in entries if entry is not None])
        return Listing(items, items, True) if len(distinct(items)) > 1 else None

    def _list(self, values: Sequence[Any], depth: int) -> Listing | None:
        values = [value for value in values if value is not None]
        if all(isinstance(value, dict) for value in values):
            return self._objects(values, depth)
        if all(isinstance(value, list) for value in values):
            return self._table(values, depth)
        if len(values) == 1 and isinstance(values[0], str):
            inner = self._text(values[0], depth)
            if inner is not None:
                return inner
        return self._scalars(values, depth)

    def _scalars(self, values: Sequence[Any], depth: int) -> Listing:
        items: list[Item] = []
        for value in values:
            if isinstance(value, list | dict):
                inner = self.read(value, depth + 1)
                items += inner.items if inner else []
            else:
                items.append(self._candidates.value(value))
        entries = [self._candidates.entry(value, listed=True) if isinstance(value, str) else None for value in values]
        scores = [entry.score.value if entry and entry.score else None for entry in entries]
        if len(scores) == len(items) > 1 and None not in scores:
            return Listing(items, in_order(items, scores, meaning([score or 0.0 for score in scores])), True)
        return Listing(items, items, True)

    def _objects(self, objects: Sequence[Mapping[str, Any]], depth: int) -> Listing | None:
        if all(len(inner) == 1 for inner in objects) and not any(role(name) for inner in objects for name in inner):
            merged = {name: value for inner in objects for name, value in inner.items()}
            if len(merged) == len(objects):
                return self._object(merged, depth + 1)
        ordered = from_records([_flat(inner) for inner in objects], self._candidates)
        if ordered is None or (not distinct(ordered[0]) and len(objects) == 1):
            parts = [inner for value in objects if (inner := self._object(value, depth + 1)) is not None]
            return joined_parts(parts) if parts else Listing(*ordered) if ordered else None
        return Listing(*ordered)

    def _table(self, rows: Sequence[Sequence[Any]], depth: int) -> Listing | None:
        if any(isinstance(cell, list | dict) for row in rows for cell in row):
            parts = [inner for row in rows if (inner := self._list(row, depth + 1)) is not None]
            return joined_parts(parts) if parts else None
        if len({len(row) for row in rows}) > 1 or len(rows[0]) not in (2, 3):
            return self._scalars([cell for row in rows for cell in row], depth)
        first = [row[0] for row in rows]
        pairs = {str(row[0]): row[1] for row in rows}
        if (
            len(rows[0]) == 2
            and len(pairs) == len(rows) > 1
            and any(to_number(cell) is not None for row in rows for cell in row)
        ):
            return read_map(pairs, self._candidates) or self._scalars(first, depth)
        ordered = from_records([{str(at): cell for at, cell in enumerate(row)} for row in rows], self._candidates)
        return Listing(*ordered) if ordered else None

    def _object(self, pairs: Mapping[str, Any], depth: int) -> Listing | None:
        parts: list[Listing] = []
        if columns := _columns(pairs):
            return self._objects(columns, depth + 1)
        objects = [value for value in pairs.values() if isinstance(value, dict)]
        if len(objects) == len(pairs) > 1 and not any(map(role, pairs)) and all(map(self._is_key, pairs)):
            return self._keyed(pairs)
        for key, value in pairs.items():
            says = purpose(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", key))  # "finalRanking"
            if isinstance(value, list) and map_hint(key):
                continue  # numbers beside the candidates are not the candidates
            if isinstance(value, dict) and (hint := map_hint(key)) and all(map(self._is_key, value)):
                inner = read_map(value, self._candidates, hint)
            elif isinstance(value, list | dict) or (
                isinstance(value, str) and (says in _LISTS or value.lstrip()[:1] in _BRACKETS)
            ):
                inner = self.read(value, depth + 1)
            else:
                continue
            if inner is not None and distinct(inner.items):
                parts.append(inner._replace(purpose=says or inner.purpose))
        if parts:
            return chosen_part(parts)
        scalars = {key: value for key, value in pairs.items() if isinstance(value, str | int | float)}
        if not scalars:
            return None
        ordered = (
            from_records([scalars], self._candidates) if any(role(key) in ("title", "id") for key in scalars) else None
        )
        return Listing(*ordered) if ordered else read_map(scalars, self._candidates)

    def _is_key(self, key: str) -> bool:
        return count_of(key) is not None or self._candidates.titles.find(key) is not None

    def _keyed(self, pairs: Mapping[str, Mapping[str, Any]]) -> Listing | None:
        """Objects under their ranks, identifiers or titles."""
        inner = from_records([_flat(value) for value in pairs.values()], self._candidates)
        says_candidate = any(role(field) not in ("rank", "score") for value in pairs.values() for field in _flat(value))
        name = "rank" if says_candidate and inner and len(distinct(inner[0])) > len(pairs) / 2 else "id"
        named = [self._candidates.value(key).place for key in pairs]
        if name == "id" and not any(place is not None for place in named):
            return Listing(*inner) if inner else None
        keys = [count_of(key) or key for key in pairs] if name == "rank" else list(pairs)
        if name == "rank" and not all(isinstance(key, int) for key in keys):
            name = "key"
        ordered = from_records(
            [{name: key, **_flat(value)} for key, value in zip(keys, pairs.values(), strict=True)], self._candidates
        )
        return Listing(*ordered) if ordered else None


def _columns(pairs: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The records of an object of two columns, the candidates and their scores or ranks; none for other objects."""
    lists = {key: value for key, value in pairs.items() if isinstance(value, list)}
    numbers = [
        key for key, value in lists.items() if map_hint(key) and all(to_number(cell) is not None for cell in value)
    ]
    if len(lists) != 2 or len(numbers) != 1:
        return []
    (name,) = lists.keys() - set(numbers)
    kind, cells, values = map_hint(numbers[0]) or "score", lists[name], lists[numbers[0]]
    if len(cells) != len(values) or any(isinstance(cell, list | dict) for cell in cells):
        return []
    return [{"id": cell, kind: value} for cell, value in zip(cells, values, strict=True)]


def _flat(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record with the fields of the objects in it beside its own."""
    flat = {name: value for name, value in record.items() if not isinstance(value, dict)}
    for value in record.values():
        if isinstance(value, dict):
            flat = {**value, **flat}
    return flat
