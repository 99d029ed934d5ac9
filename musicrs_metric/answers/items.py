"""Items: what an answer lists, told from what it says around the list."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from .result import Item
from .wrapping import bare

_TALK = re.compile(
    r"\s*(?:sure|okay|certainly|of course|absolutely|here(?:'s| is| are)|i'm|i am|i'd|i've|i have|i would|let me"
    r"|note that|based on|as an?|the following|below|hope (?:this|that)|please|sorry)\b",
    re.IGNORECASE,
)
_MOST_WORDS = 20


def is_talk(text: str) -> bool:
    """Whether a piece that names no candidate reads like a remark rather than like an invented title."""
    return bool(_TALK.match(text)) or text.rstrip("* \t").endswith(":") or len(text.split(maxsplit=50)) > _MOST_WORDS


def is_something(item: Item) -> bool:
    """Whether an item names a candidate or may be a title at all: a marker without text is neither."""
    return item.place is not None or any(map(str.isalnum, item.text))


def item(text: str, place: int | None) -> Item:
    """An item, its text without marker and wrapping."""
    return Item(bare(text), place)


def decisive(rows: Sequence[list[Item]]) -> list[Item]:
    """The items of the rows of an answer, or those of one row that says it all.

    Models draft, discuss and then answer: where one row names all that the rows name together, the last such row is the
    answer, and the others led to it.
    """
    everything = [found for row in rows for found in row]
    whole = [row for row in rows if n_named(row) == n_named(everything)]
    return whole[-1] if whole and n_named(everything) > 1 else everything


def n_named(items: Iterable[Item]) -> int:
    """Number of distinct candidates that items name."""
    return len({item.place for item in items if item.place is not None})
