"""Months whose scores were captured too early to mean anything.

Some dumps hold scores from minutes after the writing: nearly all are 1, the author's own vote, for months on end. A
ground truth by upvotes is no better than chance there, so such months are named.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

_ENOUGH = 30  # fewer replies may all be 1


@dataclass(frozen=True)
class Month:
    """The scores of the first-level replies of one month.

    Attributes:
        name: As in `2018-10`, UTC.
        n: How many there are.
        ones: How many are 1.
    """

    name: str
    n: int
    ones: int

    @property
    def is_suspect(self) -> bool:
        """Whether more than half of the scores are 1."""
        return self.n >= _ENOUGH and 2 * self.ones > self.n


def months_of(days: Iterable[tuple[int, int, int]]) -> list[Month]:
    """Add up days.

    Args:
        days: Days since 1970 with their number of scores, and of those that are 1.

    Returns:
        Months in order.
    """
    found: dict[str, Month] = {}
    for day, n, ones in days:
        name = f"{datetime.fromtimestamp(day * 86_400, UTC):%Y-%m}"
        month = found.get(name, Month(name, 0, 0))
        found[name] = Month(name, month.n + n, month.ones + ones)
    return [found[name] for name in sorted(found)]


def suspect_note(months: Iterable[Month]) -> str | None:
    """Name the months that are suspect in one line; None where there is none."""
    suspect = [f"{month.name} ({month.ones:,} of {month.n:,})" for month in months if month.is_suspect]
    if not suspect:
        return None
    return f"most replies have a score of 1, perhaps captured too early, in {', '.join(suspect)}"
