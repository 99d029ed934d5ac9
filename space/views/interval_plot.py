"""Small plots next to numbers: a line for an interval, a dot for a mean, a mark for chance or zero."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from musicrs_metric.compare.results import Bounds

from .html import Html, tag


class Scale(NamedTuple):
    """Scale from a value to its position in a plot.

    Attributes:
        low: Value at the left end.
        high: Value at the right end.
    """

    low: float
    high: float

    @classmethod
    def over(cls, values: Iterable[float | None], *, zero: bool = True) -> Scale:
        """Return a scale for all values. With `zero`, it starts at 0 unless a value is lower."""
        known = [value for value in values if value is not None] or [0.0]
        low = min([*known, 0.0] if zero else known)
        return cls(low, max([*known, low + 0.01]))

    @classmethod
    def without_outliers(cls, tops: Iterable[float], *, least: float = 0.0) -> Scale:
        """Return a scale from 0 on which a few far higher rows do not compress the others.

        At most a quarter of the rows, and at least one, are off the scale. Each is more than twice as high as all rows
        on the scale.

        Args:
            tops: Largest value to draw of each row.
            least: Value that is on the scale in any case, such as chance.
        """
        ordered = sorted(max(top, least) for top in tops)
        off = max(1, len(ordered) // 4)
        for low, high in list(pairwise(ordered))[-off:]:
            if 0 < 2 * low < high:
                return cls(0.0, low)
        return cls.over([*ordered, least])

    def place(self, value: float) -> str:
        """Return the position of a value as a share of the width."""
        share = (value - self.low) / (self.high - self.low)
        return f"{min(1.0, max(0.0, share)) * 100:.1f}%"


def interval_plot(scale: Scale, *, value: float | None, interval: Bounds | None, mark: float | None) -> Html:
    """Plot one value. Screen readers skip the plot, because the numbers are next to it.

    Args:
        scale: Scale of the column.
        value: The mean; None for no dot.
        interval: Its interval; None for no line.
        mark: Value of the upright mark; None for no mark.
    """
    parts = {"line": interval, "mark": mark, "dot": value}
    places = {"value": value, "mark": mark} | (dict(zip(("low", "high"), interval, strict=True)) if interval else {})
    style = "".join(f"--{name}:{scale.place(place)};" for name, place in places.items() if place is not None)
    marks = [tag("i", class_=kind) for kind, there in parts.items() if there is not None]
    beyond = " beyond" if value is not None and value > scale.high else ""
    return tag("span", marks, class_=f"range{beyond}", style=style, aria_hidden="true")
