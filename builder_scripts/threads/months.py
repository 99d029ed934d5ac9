"""Months with scores that were captured too early.

Some dumps hold scores from minutes after the post: for whole months nearly all are 1, the vote of the author. A ground
truth by upvotes is at chance there, so a note lists such months.
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
        name: Such as `2018-10`, UTC.
        n: Number of scores.
        ones: Number of scores of 1.
    """

    name: str
    n: int
    ones: int

    @property
    def is_suspect(self) -> bool:
        """True if more than half of the scores are 1."""
        return self.n >= _ENOUGH and 2 * self.ones > self.n


def months_of(days: Iterable[tuple[int, int, int]]) -> list[Month]:
    """Add up the days of each month.

    Args:
        days: Days since 1970 with their number of scores, and of those that are 1.

    Returns:
        Months in order.
    """
    months: dict[str, Month] = {}
    for day, n, ones in days:
        name = f"{datetime.fromtimestamp(day * 86_400, UTC):%Y-%m}"
        month = months.get(name, Month(name, 0, 0))
        months[name] = Month(name, month.n + n, month.ones + ones)
    return [months[name] for name in sorted(months)]


def suspect_note(months: Iterable[Month]) -> str | None:
    """Return one line that lists the suspect months. None if there are none."""
    suspect = [f"{month.name} ({month.ones:,} of {month.n:,})" for month in months if month.is_suspect]
    if not suspect:
        return None
    return f"most replies have a score of 1, perhaps captured too early, in {', '.join(suspect)}"
