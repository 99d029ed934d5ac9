"""One line or piece of an answer, before the list that it belongs to is known."""

from __future__ import annotations

from typing import NamedTuple

from .scores import Score


class Entry(NamedTuple):
    """One thing that an answer may list, before its list is known.

    Attributes:
        text: The text of the item.
        title: The candidate whose title it has.
        first: The number that it starts with: of the list, of its rank or its identifier.
        second: The identifier behind that number.
        score: A score in its remark.
        is_plain: Whether it says nothing but the candidate.
        is_ranked: Whether the first number is called a rank.
        is_bracketed: Whether the first number is in square brackets.
        between: What stands between the two numbers.
        marker: The list marker in front of a title.
    """

    text: str
    title: int | None = None
    first: int | None = None
    second: int | None = None
    score: Score | None = None
    is_plain: bool = False
    is_ranked: bool = False
    is_bracketed: bool = False
    between: str = ""
    marker: str = ""
