"""Small drawings beside numbers: a line for an interval, a dot for a mean, an upright mark for chance or for zero."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from musicrs_metric.compare.results import Bounds

from .html import Html, tag


class Scale(NamedTuple):
    """From a value to its place in a drawing.

    Attributes:
        low: The value at its left end.
        high: The value at its right end.
    """

    low: float
    high: float

    @classmethod
    def over(cls, values: Iterable[float | None], *, zero: bool = True) -> Scale:
        """A scale on which all values have a place; with `zero`, one that starts there where none is below."""
        known = [value for value in values if value is not None] or [0.0]
        low = min([*known, 0.0] if zero else known)
        return cls(low, max([*known, low + 0.01]))

    def place(self, value: float) -> str:
        """Where a value stands, as a share of the width."""
        share = (value - self.low) / (self.high - self.low)
        return f"{min(1.0, max(0.0, share)) * 100:.1f}%"


def interval_plot(scale: Scale, *, value: float | None, interval: Bounds | None, mark: float | None) -> Html:
    """Draw one value; the numbers stand beside it, so that screen readers pass it over.

    Args:
        scale: Of all drawings of a column.
        value: The mean; None for none.
        interval: Its interval.
        mark: Where the upright mark stands; None for none.
    """
    parts = {"line": interval, "mark": mark, "dot": value}
    places = {"value": value, "mark": mark} | (dict(zip(("low", "high"), interval, strict=True)) if interval else {})
    style = "".join(f"--{name}:{scale.place(place)};" for name, place in places.items() if place is not None)
    marks = [tag("i", class_=kind) for kind, there in parts.items() if there is not None]
    return tag("span", marks, class_="range", style=style, aria_hidden="true")
