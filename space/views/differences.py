"""Differences in tables: a number with its interval, drawn around zero."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from musicrs_metric.compare.results import Bounds

from . import display_names
from .html import Html, data_table, tag
from .interval_plot import Scale, interval_plot


def figures(heads: Sequence[str], table_rows: Sequence[Html]) -> Html:
    """Return a table that scrolls sideways.

    Args:
        heads: Texts of its head.
        table_rows: Its rows.
    """
    return tag("div", data_table(heads, table_rows), class_="scroll", tabindex=0)


def difference(value: float, interval: Bounds | None, scale: Scale) -> Html:
    """Return a cell with a difference, coloured if its interval excludes zero."""
    excludes_zero = interval is not None and not interval[0] <= 0 <= interval[1]
    return tag(
        "td",
        tag("b", display_names.points(value)),
        tag("small", f" {display_names.points_interval(interval)}"),
        interval_plot(scale, value=value, interval=interval, mark=0.0),
        class_=f"difference {'up' if value > 0 else 'down'}" if excludes_zero else "difference",
    )  # fmt: skip


def scale_of(intervals: Iterable[Bounds]) -> Scale:
    """Return a scale with zero in the middle."""
    far = max((abs(end) for bounds in intervals for end in bounds), default=0.01) or 0.01
    return Scale(-far, far)
