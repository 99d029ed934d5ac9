"""Choice of the list that is the ranking of an answer. The rules are stated in `read.read_answer`."""

from __future__ import annotations

from collections.abc import Sequence

from .candidates import Candidates
from .found import INLINE, FoundList

_TINY = 3
_ASIDE = ("draft", "walk", "excluded", "remark")


def chosen(lists: Sequence[FoundList], candidates: Candidates, *, is_alone: bool) -> FoundList | None:
    """The list that is the answer's ranking, or None where it has none.

    Args:
        lists: The lists of an answer, joined.
        candidates: The pool.
        is_alone: Whether the answer is one list and nothing else.
    """
    size = len(candidates)
    usable = [found for found in lists if found.places and found.purpose != "excluded"]
    several = [found for found in usable if len(found.places) > 1]
    stated = [found for found in several if _states_ranking(found, candidates, is_alone=is_alone)]
    if stated:
        return _unless_summary(stated, size)
    ordered = [found for found in usable if found.states_order or not found.is_in_pool_order(size)]
    has_walk = any(found.purpose == "walk" for found in usable)
    for level in (
        [found for found in ordered if len(found.places) > 1 and found.purpose not in _ASIDE],
        [found for found in ordered if found.purpose in ("final", "ranking")],
        [found for found in ordered if len(found.places) > 1 and found.purpose != "walk"],
        [found for found in ordered if found.purpose != "walk" and not (has_walk and len(found.places) == 1)],
        [found for found in ordered if len(found.places) > 1],
    ):
        if level:
            return level[-1]
    return None


def _states_ranking(found: FoundList, candidates: Candidates, *, is_alone: bool) -> bool:
    """Check whether an answer puts a list forward as a ranking: by what stands in front of it, or by its form."""
    if found.purpose in _ASIDE or (found.purpose == "more" and found.kind in INLINE):
        return False
    if found.states_order:
        return True
    says_so = found.purpose in ("final", "ranking")
    if not found.is_in_pool_order(len(candidates)):
        return says_so or found.kind in ("number", "values") or found.is_plain
    if says_so and found.is_headed:
        return True
    # The only list about a tiny pool is its ranking: orders of two or three coincide too often to mean anything.
    is_plain = found.is_plain or len(candidates) <= _TINY
    return is_alone and is_plain and not _is_echo(found, candidates)


def _is_echo(found: FoundList, candidates: Candidates) -> bool:
    """Check for the form in which a prompt shows its candidates, and not the one that prompts ask for."""
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
