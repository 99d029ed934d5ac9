"""Tab Size and date: scores against the number of parameters or the day of arrival, with the chance line."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..board.rows import SubmissionRow
from ..board.table_rows import parameters_of
from . import display_names
from .address import Address
from .columns import short_number
from .form_controls import choice, filter_choice, form, status_choice
from .html import Html, join, plot_text, tag
from .plots import COLOURS, INK, PARADIGM_PLACE, SYMBOLS, with_style

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

AXES: Mapping[str, str] = {"size": "Number of parameters", "date": "Date"}
_LONGEST_NAME = 60


def chooser(rows: Sequence[SubmissionRow], address: Address) -> Html:
    """Return the fields above the plot, and the number of systems that it can show.

    Args:
        rows: The selected systems.
        address: State of the page.
    """
    shown = len(_points(rows, address))
    note = f"The plot shows {shown} of {display_names.plural(len(rows), 'system')}."
    if address.axis == "size" and shown < len(rows):
        note += " The others do not state their number of parameters."
    return join(
        form(
            "Choose what the plot shows",
            choice("axis", "Against", AXES, address),
            choice("metric", "Measure", display_names.METRICS, address),
            filter_choice("modality", "Modality", display_names.MODALITIES, address),
            filter_choice("reads", "Reads", display_names.READS, address),
            status_choice(address),
        ),
        tag("p", f"{note} A line is the 95 % interval of a score, the dashed line is chance.", class_="soft"),
    )


def figure(rows: Sequence[SubmissionRow], chance: float | None, address: Address) -> Figure | None:
    """Plot the systems; None if there is none to plot.

    Args:
        rows: The selected systems.
        chance: The chance level of the measure.
        address: State of the page, with axis and measure.
    """
    import plotly.graph_objects as go

    points = _points(rows, address)
    if not points:
        return None
    plot = go.Figure()
    if chance is not None:
        line = {"color": INK, "width": 2, "dash": "dash"}
        plot.add_shape(type="line", xref="paper", x0=0, x1=1, y0=chance * 100, y1=chance * 100, line=line)
        plot.add_trace(go.Scatter(x=[None], y=[None], mode="lines", name="chance", line=line))
    for paradigm, place in PARADIGM_PLACE.items():
        chosen = [(row, x) for row, x in points if row.entry.card.paradigm == paradigm]
        if not chosen:
            continue
        values = [row.scores.values[address.metric] or 0.0 for row, _ in chosen]
        ends = [(row.scores.interval or {}).get(address.metric) or (value, value)
                for (row, _), value in zip(chosen, values, strict=True)]  # fmt: skip
        plot.add_trace(
            go.Scatter(
                x=[x for _, x in chosen], y=[value * 100 for value in values], mode="markers", name=paradigm,
                text=[plot_text(row.label, _LONGEST_NAME) for row, _ in chosen],
                hovertemplate="%{text}<br>%{y:.2f}<extra></extra>",
                error_y={
                    "type": "data", "symmetric": False, "thickness": 1.3, "width": 0,
                    "array": [(high - value) * 100 for (_, high), value in zip(ends, values, strict=True)],
                    "arrayminus": [(value - low) * 100 for (low, _), value in zip(ends, values, strict=True)],
                },
                marker={"color": COLOURS[place], "symbol": SYMBOLS[place], "size": 9},
            )
        )  # fmt: skip
    if address.axis == "size":
        sizes = [float(x) for _, x in points]
        marks = [
            10.0**power for power in range(math.floor(math.log10(min(sizes))), math.ceil(math.log10(max(sizes))) + 1)
        ]
        plot.update_xaxes(type="log", tickvals=marks, ticktext=[short_number(mark) for mark in marks])
    else:
        plot.update_xaxes(type="date")  # plotly would guess another kind from the empty trace of chance
    plot.update_xaxes(title="Parameters" if address.axis == "size" else "Date of arrival")
    plot.update_yaxes(title=f"{display_names.metric(address.metric)} in per cent", rangemode="tozero")
    return with_style(plot, height=460)


def _points(rows: Sequence[SubmissionRow], address: Address) -> list[tuple[SubmissionRow, int | str]]:
    """Return the systems with a place on the axis, and this place."""
    places = [
        (row, parameters_of(row.entry.card) if address.axis == "size" else row.entry.received_at[:19]) for row in rows
    ]
    return [(row, x) for row, x in places if x is not None and row.scores.values[address.metric] is not None]
