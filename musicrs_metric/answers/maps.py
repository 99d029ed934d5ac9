"""Maps in answers: from candidates to ranks, scores or remarks, or from ranks to candidates.

Keys that are titles of candidates are the candidates, and their numbers are ranks or scores (`scores.meaning`). Keys
that count from 1 as listed are ranks where the values are distinct titles or identifiers. All other numbers as keys are
identifiers where the prompt asked for numbers: their values are ranks, scores or remarks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from .candidates import Candidates
from .found import distinct
from .listing import Listing
from .result import Item
from .scores import Meaning, in_order, meaning, to_number

_COUNT_KEY = re.compile(
    r"\s*(?:rank|place|position|#|no\.?|number|top|item|song)?[\s_#.\[]*(\d{1,6})(?:st|nd|rd|th)?[\s.)\]]*",
    re.IGNORECASE,
)
_ORDINALS = {
    word: rank
    for rank, word in enumerate(
        ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"], 1
    )
}
_SCORES_KEY = re.compile(
    r".*(?:scores?|relevance|ratings?|probabilit(?:y|ies)|confidences?|similarit(?:y|ies)|weights?)", re.IGNORECASE
)
_RANKS_KEY = re.compile(r"(?:.*_)?(?:ranks|positions|rank_of|rank_by_\w+|places)", re.IGNORECASE)


def read_map(pairs: Mapping[str, Any], candidates: Candidates, hint: Meaning | None = None) -> Listing | None:
    """Read a map by its meaning, which is stated above.

    Args:
        pairs: The map; its values are no lists or objects.
        candidates: The pool.
        hint: What its numbers are, where the key of the map says so.
    """
    keys = [candidates.value(key) for key in pairs]
    counts = [count_of(key) for key in pairs]
    numbers = [to_number(value) for value in pairs.values()]
    has_numbers = None not in numbers
    if hint and has_numbers:
        return _by_value(keys, numbers, hint)
    titled = sum(candidates.titles.find(key) is not None for key in pairs)
    values = [candidates.value(value) for value in pairs.values()]
    if titled * 2 >= len(pairs) or (titled and has_numbers and None in counts):
        return _by_value(keys, numbers) if has_numbers else Listing(keys, keys, False)
    named = distinct(values)
    if None not in counts:
        ranks = [count or 0 for count in counts]
        by_rank = (
            ranks == list(range(1, len(ranks) + 1))
            and len(named) == len(ranks)
            and all(number is None or number.is_integer() for number in numbers)
        )
        titles = any(number is None for number in numbers) and named
        if (
            titles
            and not by_rank
            and candidates.numbered
            and sum(a.place == b.place for a, b in zip(keys, values, strict=True)) * 2 > len(named)
        ):
            return Listing(keys, keys, False)  # each number with its own title
        if by_rank or titles:
            return Listing(values, in_order(values, [float(rank) for rank in ranks], "rank"), True)
        if candidates.numbered and has_numbers:
            return _by_value(keys, numbers)
        if candidates.numbered and ranks != list(range(1, len(ranks) + 1)):
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


def map_hint(key: str) -> Meaning | None:
    """Meaning of the numbers of a map, by the key that it has."""
    return "score" if _SCORES_KEY.fullmatch(key) else "rank" if _RANKS_KEY.fullmatch(key) else None


def count_of(key: str) -> int | None:
    """The number that a key is, such as 2 for "rank_2"; None for others."""
    found = _COUNT_KEY.fullmatch(key)
    return int(found[1]) if found else None
