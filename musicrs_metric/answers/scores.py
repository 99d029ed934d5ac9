"""Numbers beside candidates: whether they are ranks or scores, and the order that they state.

Ranks are whole numbers that count from 1 without gap or repeat, in any order. All other numbers are scores. Where a
word says "score" or "rank", it decides. Scores go from the highest down and ranks from 1 up. Equal ones stay as listed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypeVar

Meaning = Literal["rank", "score", "distance"]
T = TypeVar("T")

_NUMBER = re.compile(
    r"[\s*_#\[(\"']*(?:(?:rank|score)(?:ed)?\s?[:#=]?\s?)?(-?\d{1,9}(?:[.,]\d{1,20})?)(?:st|nd|rd|th)?\s*(?:%|/\s?\d{1,4}|(?:points?|pts)\b)?[\s*_\])\"'.]*",
    re.IGNORECASE,
)
_WORD = (
    r"(?:score|relevance|rating|rated|probability|prob|confidence|match|fit|similarity|likelihood|suitability"
    r"|certainty)"
)
_LABELLED = re.compile(rf"\b{_WORD}\w{{0,10}}\s*[:=]?\s*\**(\d{{1,4}}(?:\.\d{{1,20}})?)(?!\d)", re.IGNORECASE)
_RANKED = re.compile(r"\brank(?:ed)?\s?[:=#]?\s?#?(\d{1,4})\b", re.IGNORECASE)
_OUT_OF = re.compile(r"(?<![\d.])(\d{1,3}(?:\.\d{1,20})?)\s?(?:/|out of)\s?(?:5|10|100)\b(?![./]\d)", re.IGNORECASE)
_PERCENT = re.compile(r"(?<![\d.])(\d{1,3}(?:\.\d{1,20})?)\s?%")
_ALONE = re.compile(r"[\s:=|,*_()\[\]>→–—-]*(\d{1,3}(?:\.\d{1,20})?)[\s*_()\[\].]*")
_LEVELS = {
    "very high": 5,
    "excellent": 5,
    "high": 4,
    "good": 4,
    "medium": 3,
    "moderate": 3,
    "fair": 3,
    "low": 2,
    "poor": 2,
}
_LEVELS |= {"very low": 1, "none": 0}


class Score(NamedTuple):
    """A number beside a candidate.

    Attributes:
        value: The number.
        form: "rank", "label", "fraction" or "percent" where the text says what it is, else "bare".
    """

    value: float
    form: str


def score_in(rest: str) -> Score | None:
    """The score in the remark behind a candidate, or None."""
    rest = rest[:300]
    for form, pattern in (("rank", _RANKED), ("label", _LABELLED), ("fraction", _OUT_OF), ("percent", _PERCENT)):
        if found := pattern.search(rest):
            return Score(float(found[1]), form)
    alone = _ALONE.fullmatch(rest)
    return Score(float(alone[1]), "bare") if alone and rest[:1] in " :=|,(-–—>→[\t" else None


def to_number(value: Any) -> float | None:
    """The number that a value is, such as `"2"`, `"8/10"`, `"95 %"`, `"1st"` or `"high"`; None for others."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    if not isinstance(value, str):
        return None
    found = _NUMBER.fullmatch(value)
    if found:
        return float(found[1].replace(",", "."))
    return _LEVELS.get(value.strip().lower())


def meaning(values: Sequence[float], hint: Meaning | None = None) -> Meaning:
    """Check whether numbers are ranks or scores."""
    if hint:
        return hint
    return "rank" if sorted(values) == list(range(1, len(values) + 1)) and len(values) > 1 else "score"


def in_order(items: Sequence[T], values: Sequence[float | None], kind: Meaning) -> list[T]:
    """Sort by value, the best first, ties as listed; those without a value come last."""
    sign = -1 if kind == "score" else 1
    keys = [(value is None, sign * (value or 0)) for value in values]
    return [items[at] for at in sorted(range(len(items)), key=keys.__getitem__)]
