"""Similarity of two titles, and the rule that merges them without a person."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from ..extract.text_matching import folded

Decision = Literal["merge", "keep"]

# Titles with a lower similarity are not proposed.
ALIKE = 90
# In a short title one letter more or less makes another song: "Dream" and "Dreams".
_SHORTEST_MISSPELT = 10
_SHORTEST_WORD, _WORDS_ALIKE = 5, 80
# Words that distinguish works of one series, like numbers and single letters: "Sonata No. 2 in A", "in B minor".
_MARK = re.compile(r"\d\w*|[ivxlcdm]+|\w|major|minor|sharp|flat|op|no|live|remix|acoustic|instrumental|demo|part|vol")


class Likeness(NamedTuple):
    """Similarity of two titles, and the decision of the rule.

    Attributes:
        alike: Share of letters in common, in per cent.
        decision: Merge without a person, or keep.
    """

    alike: float
    decision: Decision


def marks(form: str) -> tuple[str, ...]:
    """Return the words that distinguish a folded title from other works of its series."""
    return tuple(word for word in form.split() if _MARK.fullmatch(word))


def likeness(name: str, other: str) -> Likeness | None:
    """Compare two titles that differ.

    The rule merges titles with the same words, without case, accents and punctuation. It also merges long titles with
    equally many words, if each pair of words is equal or a misspelling: at least five letters, at least 80 % similar,
    and no plural.

    Args:
        name: A title.
        other: Another.

    Returns:
        The similarity. None if the titles are not similar.

    Examples:
        >>> likeness("Heart Shaped Box", "heart-shaped box")
        Likeness(alike=100.0, decision='merge')
        >>> likeness("Smells Like Teen Sprit", "Smells Like Teen Spirit").decision
        'merge'
        >>> likeness("Beautiful Dream", "Beautiful Dreams").decision
        'keep'
        >>> likeness("Symphony No. 5", "Symphony No. 6") is None
        True
    """
    from rapidfuzz import fuzz

    form, other_form = folded(name), folded(other)
    if not form or not other_form or marks(form) != marks(other_form):
        return None
    if form == other_form:
        return Likeness(100.0, "merge")
    alike = round(fuzz.ratio(form, other_form), 1)
    if alike < ALIKE:
        return None
    return Likeness(alike, "merge" if _is_misspelling(form, other_form) else "keep")


def _is_misspelling(form: str, other: str) -> bool:
    from rapidfuzz import fuzz

    words, others = form.split(), other.split()
    if len(words) != len(others) or len(form) < _SHORTEST_MISSPELT:
        return False
    return all(
        min(len(a), len(b)) >= _SHORTEST_WORD and fuzz.ratio(a, b) >= _WORDS_ALIKE and f"{a}s" != b and f"{b}s" != a
        for a, b in zip(words, others, strict=True)
        if a != b
    )
