"""Which list of an answer is its ranking. The rules are stated in `read.read_answer`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .candidates import Candidates
from .found import FoundList, from_entries

_ASIDE = ("draft", "walk", "excluded", "remark")
_LINES = ("number", "bullet", "bare")
_INLINE = ("chain", "row")


def joined(lists: Sequence[FoundList], candidates: Candidates) -> list[FoundList]:
    """Put the parts of one list together: lists that go on where the one before stopped and share no candidate with it.

    Args:
        lists: The lists of an answer in order.
        candidates: The pool.
    """
    whole: list[FoundList] = []
    for part in lists:
        if whole and _goes_on(whole[-1], part, len(candidates)):
            whole[-1] = _together(whole[-1], part, candidates)
        else:
            whole.append(part)
    return whole


def chosen(lists: Sequence[FoundList], candidates: Candidates, *, is_alone: bool) -> FoundList | None:
    """The list that is the answer's ranking, or None where it has none.

    Args:
        lists: The lists of an answer, joined.
        candidates: The pool.
        is_alone: Whether the answer is one list and nothing else.
    """
    size = len(candidates)
    usable = [found for found in lists if found.places and not (found.purpose == "excluded")]
    several = [found for found in usable if len(found.places) > 1]
    stated = [found for found in several if _states_ranking(found, candidates, is_alone=is_alone)]
    if stated:
        return _unless_summary(stated, size)
    ordered = [found for found in usable if found.states_order or not found.is_in_pool_order(size)]
    for level in (
        [found for found in ordered if len(found.places) > 1 and found.purpose not in _ASIDE],
        [found for found in ordered if found.purpose in ("final", "ranking")],
        [found for found in ordered if len(found.places) > 1 and found.purpose != "walk"],
        [found for found in ordered if found.purpose != "walk" and not _is_walk_part(found, usable)],
        [found for found in ordered if len(found.places) > 1],
    ):
        if level:
            return level[-1]
    return None


def _states_ranking(found: FoundList, candidates: Candidates, *, is_alone: bool) -> bool:
    """Whether an answer puts a list forward as a ranking: by what stands in front of it, or by its form."""
    if found.purpose in _ASIDE or (found.purpose == "more" and found.kind in _INLINE):
        return False
    if found.states_order:
        return True
    says_so = found.purpose in ("final", "ranking")
    if not found.is_in_pool_order(len(candidates)):
        return says_so or found.kind in ("number", "values") or found.is_plain
    if says_so and found.is_headed:
        return True
    return is_alone and found.is_plain and not _is_echo(found, candidates)


def _is_echo(found: FoundList, candidates: Candidates) -> bool:
    """Whether a list has the form in which a prompt shows its candidates, and not the one that prompts ask for."""
    if candidates.numbered:
        return any(entry.title is not None for entry in found.entries)
    return found.kind in ("bullet", "values") or any("[" in entry.marker for entry in found.entries)


def _unless_summary(stated: Sequence[FoundList], size: int) -> FoundList:
    """The last list, unless it only repeats the head of a longer ranking before it ("my top three are ...")."""
    last = stated[-1]
    if last.purpose == "final":
        return last
    for longer in reversed(stated[:-1]):
        is_head = longer.places[: len(last.places)] == last.places and len(longer.places) > len(last.places)
        if is_head and not longer.is_in_pool_order(size):
            return longer
    return last


def _is_walk_part(found: FoundList, lists: Sequence[FoundList]) -> bool:
    """Whether a list of one is but the rest of a walk through the candidates."""
    return len(found.places) == 1 and any(other.purpose == "walk" for other in lists)


def _goes_on(whole: FoundList, part: FoundList, size: int) -> bool:
    if not whole.places or not part.places or "values" in (whole.kind, part.kind):
        return (
            part.purpose == "more" and bool(whole.places and part.places) and not set(whole.places) & set(part.places)
        )
    shares = bool(set(whole.places) & set(part.places))
    if part.purpose == "more" and whole.purpose not in ("draft", "excluded"):
        return not shares and (whole.purpose != "walk" or part.kind == whole.kind)
    if part.kind != whole.kind or part.purpose in ("draft", "excluded") or (part.purpose == "final" and shares):
        return False
    if part.kind in _INLINE:
        return not shares and part.purpose is None and part.follows_directly and part.start == whole.end + 1
    if part.kind in _LINES and _continues_walk(whole, part) and not (part.purpose and part.is_headed):
        return True
    if part.purpose is None:
        return not shares or (
            len(part.listed) == 1 and part.follows_directly and not _counts_anew(part) and len(whole.places) < size
        )
    counts_on = _first(part) is not None and _first(part) == (_last(whole) or -1) + 1 and (_first(part) or 0) > 1
    return not shares and (counts_on or part.purpose == whole.purpose == "ranking") and part.purpose != "final"


def _continues_walk(whole: FoundList, part: FoundList) -> bool:
    """Whether both list candidates as the pool does, and the second begins where the first ends."""
    places = [item.place for item in (*whole.listed, *part.listed) if item.place is not None]
    return part.listed[0].place is not None and places == list(range(places[0], places[0] + len(places)))


def _first(found: FoundList) -> int | None:
    return found.entries[0].first if found.entries else None


def _last(found: FoundList) -> int | None:
    return found.entries[-1].first if found.entries else None


def _counts_anew(found: FoundList) -> bool:
    return found.kind == "number" and _first(found) == 1


def _together(whole: FoundList, part: FoundList, candidates: Candidates) -> FoundList:
    if whole.entries and part.entries and whole.kind == part.kind:
        made = from_entries(
            whole.kind, (*whole.entries, *part.entries), candidates, lines=(whole.start, part.end), purpose=whole.purpose,
            is_headed=whole.is_headed,
            follows_directly=whole.follows_directly,
        )  # fmt: skip
        return replace(made, states_order=made.states_order or (whole.states_order and part.states_order))
    return replace(
        whole, listed=(*whole.listed, *part.listed), items=(*whole.items, *part.items), end=part.end,
        is_plain=whole.is_plain and part.is_plain, is_open=part.is_open,
    )  # fmt: skip
