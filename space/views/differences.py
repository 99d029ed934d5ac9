"""Differences in tables: a number with its interval, and both drawn around zero."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from musicrs_metric.compare.results import Bounds

from . import display_names
from .html import Html, tag
from .interval_plot import Scale, interval_plot


def figures(heads: Sequence[str], table_rows: Sequence[Html]) -> Html:
    """A table of figures that can be scrolled sideways.

    Args:
        heads: Texts of the head.
        table_rows: Its rows.
    """
    head = [tag("th", text, scope="col") for text in heads]
    made = tag("table", tag("thead", tag("tr", head)), tag("tbody", table_rows), class_="figures")
    return tag("div", made, class_="scroll", tabindex=0)


def difference(value: float, interval: Bounds | None, scale: Scale) -> Html:
    """A cell with a difference; coloured where its interval leaves out zero."""
    told = interval is not None and not interval[0] <= 0 <= interval[1]
    return tag(
        "td",
        tag("b", display_names.points(value)),
        tag("small", f" {display_names.points_interval(interval)}"),
        interval_plot(scale, value=value, interval=interval, mark=0.0),
        class_=f"difference {'up' if value > 0 else 'down'}" if told else "difference",
    )  # fmt: skip


def scale_of(intervals: Iterable[Bounds]) -> Scale:
    """As far to the one side as to the other, so that zero stands in the middle."""
    far = max((abs(end) for bounds in intervals for end in bounds), default=0.01) or 0.01
    return Scale(-far, far)
