"""Parts of one list: lists that go on where the one before stopped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .candidates import Candidates
from .found import INLINE, LINES, FoundList, from_entries
from .headings import Heading


def joined(lists: Sequence[FoundList], candidates: Candidates) -> list[FoundList]:
    """Put the parts of lists together.

    A part shares no candidate with the list before it and has its layout. It may stand under a heading of its own
    ("Next:", "Tier 2:"), continue the numbers of the list, or list the next candidates of the pool. A list is no part
    if its heading calls it final, a draft or left out.

    Args:
        lists: The lists of an answer in order.
        candidates: The pool.
    """
    whole: list[_Parts] = []
    for part in lists:
        if whole and whole[-1].goes_on_with(part, len(candidates)):
            whole[-1].add(part)
        else:
            whole.append(_Parts(part))
    return [parts.together(candidates) for parts in whole]


class _Parts:
    """Lists that are one."""

    def __init__(self, first: FoundList) -> None:
        self._lists = [first]
        self._first = first
        self._places = set(first.places)
        self._is_walk = _rises_by_one(first, None)

    def add(self, part: FoundList) -> None:
        """Take a part."""
        self._is_walk = self._continues_walk(part)
        self._lists.append(part)
        self._places.update(part.places)

    def goes_on_with(self, part: FoundList, size: int) -> bool:
        """Check whether the next list is a part of this one."""
        whole, last = self._first, self._lists[-1]
        shares = not self._places.isdisjoint(part.places)
        if not self._places or not part.places:
            return False
        if part.purpose == "more" and whole.purpose not in ("draft", "excluded"):
            return not shares and (whole.purpose != "walk" or part.kind == whole.kind)
        if part.kind != whole.kind or part.kind == "values" or part.purpose in ("draft", "excluded"):
            return False
        if part.kind in INLINE:
            return not shares and part.purpose is None and part.follows_directly and part.start == last.end + 1
        if part.kind in LINES and self._continues_walk(part) and not (part.purpose and part.is_headed):
            return True
        if part.purpose is None:
            return not shares or (_is_single(part) and len(self._places) < size)
        if shares or part.purpose == "final":
            return False
        return _counts_on(last, part) or part.purpose == whole.purpose == "ranking"

    def _continues_walk(self, part: FoundList) -> bool:
        """Check whether both list candidates as the pool does, and the second begins where the first ends."""
        places = [item.place for item in self._lists[-1].listed if item.place is not None]
        return self._is_walk and bool(places) and _rises_by_one(part, places[-1])

    def together(self, candidates: Candidates) -> FoundList:
        """The whole list."""
        first, last = self._first, self._lists[-1]
        if len(self._lists) == 1:
            return first
        states = all(part.states_order for part in self._lists)
        if all(part.entries and part.kind == first.kind for part in self._lists):
            made = from_entries(
                first.kind,
                [entry for part in self._lists for entry in part.entries],
                candidates,
                lines=(first.start, last.end),
                heading=Heading(first.purpose, first.is_headed, False),
                follows_directly=first.follows_directly,
            )
            return replace(made, states_order=made.states_order or states)
        return replace(
            first,
            listed=tuple(item for part in self._lists for item in part.listed),
            items=tuple(item for part in self._lists for item in part.items),
            end=last.end,
            is_plain=all(part.is_plain for part in self._lists),
            is_open=last.is_open,
        )


def _rises_by_one(found: FoundList, before: int | None) -> bool:
    """Check whether a list has the candidates of the pool one after the other, from the one behind `before` on."""
    places = [item.place for item in found.listed if item.place is not None]
    start = before + 1 if before is not None else places[0] if places else 0
    return places == list(range(start, start + len(places)))


def _is_single(part: FoundList) -> bool:
    """Check whether a list is but an item with a blank line in front of it."""
    starts_again = part.kind == "number" and bool(part.entries) and part.entries[0].first == 1
    return len(part.listed) == 1 and part.follows_directly and not starts_again


def _counts_on(last: FoundList, part: FoundList) -> bool:
    first = part.entries[0].first if part.entries else None
    before = last.entries[-1].first if last.entries else None
    return first is not None and before is not None and first == before + 1
