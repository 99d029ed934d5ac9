"""JSON in answers, by its meaning: which part of it is the list, and in which order it puts the candidates.

list of titles or numbers   as listed.
list of objects or rows     a table: by rank, else by score, else as listed (`fields`).
map                         titles or identifiers to ranks or scores; or ranks to titles or identifiers, where the keys count
                            from 1 as listed and the values are distinct titles or identifiers; or identifiers to remarks.
object with lists           the list whose key says that it is the ranking; where no key says so, all in order if they
                            share no candidate, else the last. Keys that name the pool, a draft or what is left out come last.
text in a value             read as an answer of its own where it is a row or JSON again.

A `name`, `title`, `id`, `answer` or `number` beside a list is never the list.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .candidates import Candidates
from .fields import from_records, role
from .found import distinct
from .headings import Purpose, purpose
from .json_values import json_values
from .result import Item
from .rows import Rows
from .scores import Meaning, in_order, meaning, to_number

_COUNT_KEY = re.compile(r"\s*(?:rank|place|position|#|no\.?|number|top|item|song)?[\s_#.\[]*(\d{1,6})(?:st|nd|rd|th)?[\s.)\]]*", re.IGNORECASE)
_ORDINALS = {word: rank for rank, word in enumerate("first second third fourth fifth sixth seventh eighth ninth tenth".split(), 1)}
_DEEPEST = 8
_LISTS = frozenset({"final", "ranking"})
_BRACKETS = ("[", "{")
_SCORES_KEY = re.compile(r".*(?:scores?|relevance|ratings?|probabilit(?:y|ies)|confidences?|similarit(?:y|ies)|weights?)", re.IGNORECASE)
_RANKS_KEY = re.compile(r"(?:.*_)?(?:ranks|positions|rank_of|rank_by_\w+|places)", re.IGNORECASE)


class Listing(NamedTuple):
    """The list that a value holds.

    Attributes:
        listed: Its items as listed.
        items: Its items, best first.
        states_order: Whether the form says that this is a ranking.
        purpose: What its key says that it is.
    """

    listed: list[Item]
    items: list[Item]
    states_order: bool
    purpose: Purpose | None = None


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
        if text.lstrip()[:1] in ("[", "{"):
            found = next(json_values(text), None)
            if found is not None:
                return self.read(found.value, depth + 1)
        lines = [line for line in text.split("\n") if line.strip()]
        row = self._rows.read(text) if len(lines) == 1 else None
        entries = [self._candidates.entry(line, listed=True) for line in lines] if len(lines) > 1 else row.entries if row else []
        items = self._candidates.items([entry for entry in entries if entry is not None])
        return Listing(items, items, True) if len(distinct(items)) > 1 else None

    def _list(self, values: Sequence[Any], depth: int) -> Listing | None:
        values = [value for value in values if value is not None]
        if all(isinstance(value, dict) for value in values):
            return self._objects([_flat(value) for value in values], depth)
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
        ordered = from_records(objects, self._candidates)
        if ordered is None or (not distinct(ordered[0]) and len(objects) == 1):
            parts = [inner for value in objects if (inner := self._object(value, depth + 1)) is not None]
            return _joined(parts) if parts else Listing(*ordered) if ordered else None
        return Listing(*ordered)

    def _table(self, rows: Sequence[Sequence[Any]], depth: int) -> Listing | None:
        if any(isinstance(cell, list | dict) for row in rows for cell in row):
            parts = [inner for row in rows if (inner := self._list(row, depth + 1)) is not None]
            return _joined(parts) if parts else None
        if len({len(row) for row in rows}) > 1 or len(rows[0]) not in (2, 3):
            return self._scalars([cell for row in rows for cell in row], depth)
        first = [row[0] for row in rows]
        pairs = {str(row[0]): row[1] for row in rows}
        if len(rows[0]) == 2 and len(pairs) == len(rows) > 1 and any(to_number(cell) is not None for row in rows for cell in row):
            return self._map(pairs) or self._scalars(first, depth)
        ordered = from_records([{str(at): cell for at, cell in enumerate(row)} for row in rows], self._candidates)
        return Listing(*ordered) if ordered else None

    def _object(self, pairs: Mapping[str, Any], depth: int) -> Listing | None:
        parts: list[Listing] = []
        objects = [value for value in pairs.values() if isinstance(value, dict)]
        if len(objects) == len(pairs) > 1 and not any(map(role, pairs)) and all(map(self._is_key, pairs)):
            return self._keyed(pairs)
        for key, value in pairs.items():
            says = purpose(_spaced(key))
            if isinstance(value, dict) and (hint := _hint(key)) and all(map(self._is_key, value)):
                inner = self._map(value, hint)
            elif isinstance(value, list | dict) or (isinstance(value, str) and (says in _LISTS or value.lstrip()[:1] in _BRACKETS)):
                inner = self.read(value, depth + 1)
            else:
                continue
            if inner is not None and distinct(inner.items):
                parts.append(inner._replace(purpose=says or inner.purpose))
        if parts:
            return _chosen(parts)
        scalars = {key: value for key, value in pairs.items() if isinstance(value, str | int | float)}
        if not scalars:
            return None
        ordered = from_records([scalars], self._candidates) if any(role(key) in ("title", "id") for key in scalars) else None
        return Listing(*ordered) if ordered else self._map(scalars)

    def _is_key(self, key: str) -> bool:
        return _COUNT_KEY.fullmatch(key) is not None or self._candidates.titles.find(key) is not None

    def _keyed(self, pairs: Mapping[str, Mapping[str, Any]]) -> Listing | None:
        """Objects under their ranks, identifiers or titles."""
        inner = from_records([_flat(value) for value in pairs.values()], self._candidates)
        name = "rank" if inner and len(distinct(inner[0])) > len(pairs) / 2 else "id"
        named = [self._candidates.value(key).place for key in pairs]
        if name == "id" and not any(place is not None for place in named):
            return Listing(*inner) if inner else None
        keys = [_count(key) or key for key in pairs] if name == "rank" else list(pairs)
        if name == "rank" and not all(isinstance(key, int) for key in keys):
            name = "key"
        ordered = from_records([{name: key, **_flat(value)} for key, value in zip(keys, pairs.values(), strict=True)], self._candidates)
        return Listing(*ordered) if ordered else None

    def _map(self, pairs: Mapping[str, Any], hint: Meaning | None = None) -> Listing | None:
        keys = [self._candidates.value(key) for key in pairs]
        counts = [_count(key) for key in pairs]
        numbers = [to_number(value) for value in pairs.values()]
        has_numbers = None not in numbers
        if hint and has_numbers:
            return _by_value(keys, numbers, hint)
        titled = sum(self._candidates.titles.find(key) is not None for key in pairs)
        values = [self._candidates.value(value) for value in pairs.values()]
        if titled * 2 >= len(pairs) or (titled and has_numbers and None in counts):
            return _by_value(keys, numbers) if has_numbers else Listing(keys, keys, False)
        named = distinct(values)
        if None not in counts:
            ranks = [count or 0 for count in counts]
            by_rank = ranks == list(range(1, len(ranks) + 1)) and len(named) == len(ranks) and all(
                number is None or number.is_integer() for number in numbers
            )
            titles = any(number is None for number in numbers) and named
            if by_rank or titles:
                return Listing(values, in_order(values, [float(rank) for rank in ranks], "rank"), True)
            if self._candidates.numbered and has_numbers:
                return _by_value(keys, numbers)
            if self._candidates.numbered and ranks != list(range(1, len(ranks) + 1)):
                return Listing(keys, keys, False)
            return Listing(values, values, True) if not has_numbers else None
        ordinals = [float(_ORDINALS[key.strip().lower()]) if key.strip().lower() in _ORDINALS else None for key in pairs]
        if named and None not in ordinals:
            return Listing(values, in_order(values, ordinals, "rank"), True)
        values = [value for value in values if value.place is not None]
        return Listing(values, values, True) if len(named) > 1 else None


def _by_value(keys: list[Item], numbers: Sequence[float | None], hint: Meaning | None = None) -> Listing:
    values = [number or 0.0 for number in numbers]
    return Listing(keys, in_order(keys, values, meaning(values, hint)), True)


def _hint(key: str) -> Meaning | None:
    """What the numbers of a map are, by the key that it has."""
    return "score" if _SCORES_KEY.fullmatch(key) else "rank" if _RANKS_KEY.fullmatch(key) else None


def _count(key: str) -> int | None:
    found = _COUNT_KEY.fullmatch(key)
    return int(found[1]) if found else None


def _spaced(key: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", key)


def _flat(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record with the fields of the objects in it beside its own."""
    flat = {name: value for name, value in record.items() if not isinstance(value, dict)}
    for value in record.values():
        if isinstance(value, dict):
            flat = {**value, **flat}
    return flat


def _chosen(parts: Sequence[Listing]) -> Listing:
    """The list among those of one object."""
    for wanted in (("final",), ("ranking",), (None, "more")):
        chosen = [part for part in parts if part.purpose in wanted]
        if chosen:
            more = [part for part in parts if part.purpose == "more"] if wanted != (None, "more") else []
            return _joined([*([chosen[-1]] if wanted == ("final",) else chosen), *more])
    return parts[-1]


def _joined(parts: Sequence[Listing]) -> Listing:
    """Lists that share no candidate one behind the other, else the last."""
    whole = parts[0]
    for part in parts[1:]:
        if set(distinct(whole.items)) & set(distinct(part.items)):
            whole = part
        else:
            whole = Listing(
                [*whole.listed, *part.listed], [*whole.items, *part.items], whole.states_order and part.states_order, whole.purpose
            )
    return whole
