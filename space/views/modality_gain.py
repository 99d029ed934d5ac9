"""Gain of a system from a second modality."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from musicrs_metric.compare.results import Bounds
from musicrs_metric.intervals import DIFFERENCES, mean_intervals

from ..board.pairing import Gain
from . import display_names
from .address import Address
from .differences import difference, figures, scale_of
from .form_controls import link
from .html import Html, tag

_SHOWN = 8  # the largest gains; a fold holds the others


class Paired(NamedTuple):
    """A paired difference without tests.

    Attributes:
        difference: Mean over the threads.
        interval: Its interval; None for too few threads.
    """

    difference: float
    interval: Bounds | None


def paired(gains: Sequence[Gain], metric: str) -> list[Paired]:
    """Return the differences between both modalities and one, each over the same threads."""
    if not gains:
        return []
    values = np.stack([gain.both.table.values[metric] - gain.single.table.values[metric] for gain in gains], axis=1)
    bounds = mean_intervals(values, bounds=DIFFERENCES)
    return [
        Paired(float(mean), None if bounds is None else (float(bounds.low[i]), float(bounds.high[i])))
        for i, mean in enumerate(values.mean(axis=0))
    ]


def modality_gain(gains: Sequence[Gain], address: Address) -> Html:
    """Render the gains of all systems that were run with both modalities and with one.

    Args:
        gains: Pairs of rows with both modalities and with one.
        address: State of the page.
    """
    if not gains:
        return Html()
    pairs = paired(gains, address.metric)
    scale = scale_of(pair.interval or (pair.difference, pair.difference) for pair in pairs)
    largest = sorted(zip(gains, pairs, strict=True), key=lambda pair: -abs(pair[1].difference))
    table_rows = [
        tag(
            "tr",
            tag("th", link(address, gain.name, compare=f"{gain.both.key},{gain.single.key}"), scope="row", dir="auto"),
            tag(
                "td", " over ".join(display_names.modality(row.entry.card.modality) for row in (gain.both, gain.single))
            ),
            difference(pair.difference, pair.interval, scale),
        )
        for gain, pair in largest
    ]
    heads = ("System", "Modality", "Gain in points, 95 %")
    more = len(table_rows) - _SHOWN
    return tag(
        "section",
        tag("h2", f"Gain of a second modality, on {display_names.metric(address.metric)}", class_="minor"),
        figures(heads, table_rows[:_SHOWN]),
        tag("details", tag("summary", f"{more} smaller gains"), figures(heads, table_rows[_SHOWN:]))
        if more > 0
        else None,
        aria_label="Modality gain",
    )
