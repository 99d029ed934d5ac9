"""What a system gains from being given both the request and the clips, over the one or the other."""

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

_SHOWN = 8  # the largest; the others are folded


class Paired(NamedTuple):
    """A paired difference without tests.

    Attributes:
        difference: Its mean over the threads.
        interval: Its interval; None where the threads are too few.
    """

    difference: float
    interval: Bounds | None


def paired(found: Sequence[Gain], metric: str) -> list[Paired]:
    """The differences of both modalities and one, each over the same threads."""
    if not found:
        return []
    values = np.stack([gain.both.table.values[metric] - gain.single.table.values[metric] for gain in found], axis=1)
    bounds = mean_intervals(values, bounds=DIFFERENCES)
    return [
        Paired(float(mean), None if bounds is None else (float(bounds.low[i]), float(bounds.high[i])))
        for i, mean in enumerate(values.mean(axis=0))
    ]


def modality_gain(found: Sequence[Gain], address: Address) -> Html:
    """What a system gains from one modality over another: the same system, with and without.

    Args:
        found: Rows with both modalities and with one.
        address: What the page shows.
    """
    if not found:
        return Html()
    pairs = paired(found, address.metric)
    scale = scale_of(pair.interval or (pair.difference, pair.difference) for pair in pairs)
    largest = sorted(zip(found, pairs, strict=True), key=lambda one: -abs(one[1].difference))
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
        tag("h3", f"What a second modality adds, on {display_names.metric(address.metric)}"),
        figures(heads, table_rows[:_SHOWN]),
        tag("details", tag("summary", f"{more} smaller ones"), figures(heads, table_rows[_SHOWN:]))
        if more > 0
        else None,
        aria_label="Modality gain",
    )
