"""The list that a value of JSON holds, and the choice among several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .found import distinct
from .headings import Purpose
from .result import Item


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


def chosen_part(parts: Sequence[Listing]) -> Listing:
    """The list among those of one object."""
    for wanted in (("final",), ("ranking",), (None, "more")):
        chosen = [part for part in parts if part.purpose in wanted]
        if chosen:
            more = [part for part in parts if part.purpose == "more"] if wanted != (None, "more") else []
            return joined_parts([*([chosen[-1]] if wanted == ("final",) else chosen), *more])
    return parts[-1]


def joined_parts(parts: Sequence[Listing]) -> Listing:
    """Lists that share no candidate one behind the other, else the last."""
    kept: list[Listing] = []
    named: set[int] = set()
    for part in parts:
        if not named.isdisjoint(places := distinct(part.items)):
            kept, named = [], set()
        kept.append(part)
        named.update(places)
    return Listing(
        [item for part in kept for item in part.listed],
        [item for part in kept for item in part.items],
        all(part.states_order for part in kept),
        kept[0].purpose,
    )
