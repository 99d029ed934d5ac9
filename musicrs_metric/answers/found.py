"""A list that was found in an answer, and the meaning of its layout."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Literal

from .candidates import Candidates
from .entry import Entry
from .headings import NO_HEADING, Heading, Purpose
from .result import Item
from .scores import Meaning, in_order, meaning

# "chain" is a row with `>` between its items, "values" stands for JSON and tables, "prose" for what sentences name.
Kind = Literal["number", "bullet", "bare", "chain", "row", "values", "prose"]
INLINE, LINES = ("chain", "row"), ("number", "bullet", "bare")

_FEWEST_IN_ROW, _FEWEST_RISING = 3, 5


@dataclass(frozen=True)
class FoundList:
    """A list of candidates in an answer.

    Attributes:
        kind: Its layout.
        listed: Its items as listed.
        items: Its items, best first.
        start: Line of its first item, from 0.
        end: Line of its last item.
        purpose: Kind of the list by the text in front of it; None if the text does not say.
        is_headed: Whether this text is a heading. A sentence may be about something else.
        entries: The entries behind the items, of lines and rows; they are read again where two lists become one.
        states_order: Whether its form says that it is a ranking: ranks, scores, `>`, a list in JSON.
        is_plain: Whether its items say nothing but the candidates.
        is_open: Whether the text ends before the list does.
        follows_directly: Whether nothing but blank lines stands between it and the list before it.
    """

    kind: Kind
    listed: tuple[Item, ...]
    items: tuple[Item, ...]
    start: int
    end: int
    purpose: Purpose | None = None
    is_headed: bool = False
    entries: tuple[Entry, ...] = field(default=(), repr=False)
    states_order: bool = False
    is_plain: bool = False
    is_open: bool = False
    follows_directly: bool = False

    @cached_property
    def places(self) -> tuple[int, ...]:
        """Distinct candidates, best first."""
        return distinct(self.items)

    def is_in_pool_order(self, size: int) -> bool:
        """Check whether it lists candidates in the order of the prompt, so that it may be a mere walk through them.

        The candidates must be in rising order. Two or more count if they are the whole pool, three or more if they are
        its first ones without a gap, and five or more in any case.

        Args:
            size: Number of candidates in the pool.
        """
        places = distinct(self.listed)
        if len(places) < 2 or any(a > b for a, b in pairwise(places)):
            return False
        is_start = places[-1] == len(places) - 1
        return len(places) == size or (is_start and len(places) >= _FEWEST_IN_ROW) or len(places) >= _FEWEST_RISING


def distinct(items: Iterable[Item]) -> tuple[int, ...]:
    """Places of the distinct candidates that items name, in order."""
    return tuple(dict.fromkeys(item.place for item in items if item.place is not None))


def from_entries(
    kind: Kind,
    entries: Iterable[Entry],
    candidates: Candidates,
    *,
    lines: tuple[int, int],
    heading: Heading = NO_HEADING,
    follows_directly: bool = False,
) -> FoundList:
    """Make a list of lines or pieces: with a score each by score, otherwise as listed.

    Args:
        kind: The layout.
        entries: The lines or pieces in order.
        candidates: The pool.
        lines: Its first and its last line.
        heading: What stands in front of it.
        follows_directly: Whether nothing stands between it and the list before it.
    """
    entries = tuple(entries)
    pairs = _pairs(entries) if candidates.numbered else []
    items = candidates.items([entry._replace(second=None) for entry in entries] if pairs else entries)
    listed = tuple(items)
    values = pairs or _scores(entries, listed)
    known = [value for value in values if value is not None]
    hint: Meaning | None = "rank" if any(entry.score and entry.score.form == "rank" for entry in entries) else None
    is_countdown = _is_countdown(entries, candidates)
    if values:
        items = in_order(items, values, meaning(known, None if pairs else hint))
    elif heading.is_worst_first or is_countdown:
        items = items[::-1]
    return FoundList(
        kind, listed, tuple(items), *lines, heading.purpose, heading.is_explicit, entries,
        states_order=bool(values) or kind == "chain" or heading.is_worst_first or is_countdown
        or _is_ranked(entries),
        is_plain=all(entry.is_plain for entry, item in zip(entries, listed, strict=True) if item.place is not None),
        follows_directly=follows_directly,
    )  # fmt: skip


def _is_ranked(entries: tuple[Entry, ...]) -> bool:
    """Check whether each entry has a rank beside its candidate, counted from 1."""
    firsts = [entry.first for entry in entries if entry.is_ranked or entry.second is not None]
    return len(firsts) == len(entries) > 1 and firsts == list(range(1, len(entries) + 1))


def _is_countdown(entries: tuple[Entry, ...], candidates: Candidates) -> bool:
    """Check whether the numbers in front of three candidates or more count down to 1, and are not their identifiers."""
    firsts = [entry.first for entry in entries if entry.title is not None or entry.second is not None]
    own = [entry.title == candidates.by_number(entry.first or 0) for entry in entries if entry.second is None]
    if candidates.numbered and own and all(own):
        return False
    return len(firsts) == len(entries) >= _FEWEST_IN_ROW and firsts == list(range(len(firsts), 0, -1))


def _scores(entries: tuple[Entry, ...], items: tuple[Item, ...]) -> list[float | None]:
    """A score for each entry, where each that names a candidate has one of the same form."""
    named = [entry.score for entry, item in zip(entries, items, strict=True) if item.place is not None]
    scores = [score for score in named if score is not None]
    if len(scores) < 2 or len(scores) < len(named) or len({score.form for score in scores}) > 1:
        return []
    if all(entry.is_ranked for entry in entries) and not any(item.place is None for item in items):
        return []  # a rank is given as well
    return [entry.score.value if entry.score else None for entry in entries]


def _pairs(entries: tuple[Entry, ...]) -> list[float | None]:
    """The second numbers of lines such as `4: 9`, where they are not the identifiers: where the first do not count."""
    firsts = [entry.first for entry in entries]
    seconds = [entry.second for entry in entries]
    if len(entries) < 2 or None in firsts or None in seconds or any(entry.is_ranked for entry in entries):
        return []
    if firsts == list(range(1, len(entries) + 1)) or len(set(firsts)) < len(firsts):
        return []
    if not all(":" in entry.between or "=" in entry.between for entry in entries):
        return []
    return [float(second) for second in seconds if second is not None]
