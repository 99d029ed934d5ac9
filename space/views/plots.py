"""Interactive plots, in colours for colour-blind readers and for light and dark backgrounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from musicrs_metric.base.genres import in_order
from musicrs_metric.paper.tables import OVERALL
from musicrs_metric.scoring import Scores

from ..board.rows import SubmissionRow
from . import display_names
from .html import plot_text
from .table import on_genre

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

# Colours of Okabe and Ito, without black and with a grey for both backgrounds; each has its own symbol.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#8C8C8C")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "star", "hexagon")
PARADIGM_PLACE: Mapping[str, int] = {"generative": 4, "retrieval": 0, "traditional": 6}
INK = "#808080"
_NAMED = 5
_POINT = "%{customdata[3]}<br>right %{customdata[1]}, up %{customdata[2]}<extra>%{fullData.name}</extra>"


def scatter(
    a: SubmissionRow,
    b: SubmissionRow,
    metric: str,
    threads: Sequence[str],
    genres: Sequence[str],
    queries: Sequence[str],
) -> Figure:
    """Plot every thread as a point: the score of one system against that of the other.

    Args:
        a: The system on the vertical axis.
        b: The system on the horizontal axis.
        metric: The measure.
        threads: Ids in dataset order. A point carries its id, so that a click opens the thread.
        genres: One per thread.
        queries: One per thread.

    Returns:
        The figure. Points are moved at random by a little, so that none hides another. Their texts state the exact
        values.
    """
    import plotly.graph_objects as go

    up, right = a.table.values[metric] * 100, b.table.values[metric] * 100
    rng = np.random.default_rng(0)
    apart = rng.uniform(-1.2, 1.2, (2, len(up)))
    genre_of = np.asarray(genres, dtype=object)
    figure = go.Figure()
    figure.add_shape(type="line", x0=0, y0=0, x1=100, y1=100, line={"color": INK, "dash": "dot", "width": 1})
    for place, genre in enumerate(in_order(genres)):
        chosen = np.flatnonzero(genre_of == genre)
        figure.add_trace(
            go.Scatter(
                x=(right + apart[0])[chosen].tolist(),
                y=(up + apart[1])[chosen].tolist(),
                mode="markers",
                name=plot_text(genre, 40),
                customdata=[
                    [threads[i], f"{right[i]:.1f}", f"{up[i]:.1f}", plot_text(queries[i], 70)] for i in chosen.tolist()
                ],
                hovertemplate=_POINT,
                marker={"color": COLOURS[place % 7], "symbol": SYMBOLS[place % 7], "size": 7, "opacity": 0.75},
            )
        )
    figure.update_xaxes(title=f"{plot_text(b.label, 40)}, {display_names.metric(metric)} in per cent", range=[-4, 104])
    figure.update_yaxes(title=f"{plot_text(a.label, 40)}", range=[-4, 104])
    return with_style(figure, height=460)


def by_genre(rows: Sequence[SubmissionRow], chance: Mapping[str, float | None], metric: str) -> Figure:
    """Plot scores by genre with chance, as in the paper's Figure 4. Every system is a point; the best have intervals.

    Args:
        rows: Systems on the same pools, best first.
        chance: Genre, and "Overall", to chance level.
        metric: The measure.
    """
    import plotly.graph_objects as go

    columns = [OVERALL, *in_order(genre for genre in chance if genre != OVERALL)]
    figure = go.Figure()
    for place, level in enumerate(map(chance.get, columns)):
        if level is not None:
            figure.add_shape(
                type="line", x0=place - 0.42, x1=place + 0.42, y0=level * 100, y1=level * 100,
                line={"color": INK, "width": 2, "dash": "dash"},
            )  # fmt: skip
    figure.add_trace(
        go.Scatter(x=[None], y=[None], mode="lines", name="chance", line={"color": INK, "width": 2, "dash": "dash"})
    )
    for paradigm, place in PARADIGM_PLACE.items():
        others = [row for row in rows[_NAMED:] if row.entry.card.paradigm == paradigm]
        if others:
            figure.add_trace(_others(go, others, columns, metric, paradigm, place))
    for number, row in enumerate(rows[:_NAMED]):
        figure.add_trace(_named(go, row, columns, metric, number, len(rows[:_NAMED])))
    figure.update_xaxes(
        tickvals=list(range(len(columns))),
        ticktext=[plot_text(column, 40) for column in columns],
        range=[-0.6, len(columns) - 0.4],
    )
    figure.update_yaxes(title=f"{display_names.metric(metric)} in per cent", rangemode="tozero")
    return with_style(figure, height=460)


def _others(
    go: Any, rows: Sequence[SubmissionRow], columns: Sequence[str], metric: str, paradigm: str, place: int
) -> Any:
    rng = np.random.default_rng(place)
    x, y, texts = [], [], []
    for row in rows:
        for column, genre in enumerate(columns):
            value = _part(row, genre).values[metric]
            if value is not None:
                x.append(column + rng.uniform(-0.36, 0.36))
                y.append(value * 100)
                texts.append(plot_text(row.label, 60))
    return go.Scatter(
        x=x, y=y, mode="markers", name=f"other {paradigm}", text=texts,
        hovertemplate="%{text}<br>%{y:.2f}<extra></extra>",
        marker={"color": COLOURS[place], "size": 5, "opacity": 0.45},
    )  # fmt: skip


def _named(go: Any, row: SubmissionRow, columns: Sequence[str], metric: str, number: int, of: int) -> Any:
    x, y, up, down = [], [], [], []
    for column, genre in enumerate(columns):
        scores = _part(row, genre)
        value, interval = scores.values[metric], (scores.interval or {}).get(metric)
        if value is not None:
            x.append(column + (number - (of - 1) / 2) * 0.14)
            y.append(value * 100)
            up.append(0.0 if interval is None else (interval[1] - value) * 100)
            down.append(0.0 if interval is None else (value - interval[0]) * 100)
    return go.Scatter(
        x=x, y=y, mode="markers", name=plot_text(row.label, 28),
        hovertemplate="%{y:.2f}<extra>%{fullData.name}</extra>", error_y={"type": "data", "symmetric": False, "array":
        up, "arrayminus": down, "thickness": 1.3, "width": 0}, marker={"color": COLOURS[number], "symbol":
        SYMBOLS[number], "size": 9},
    )  # fmt: skip


def _part(row: SubmissionRow, genre: str) -> Scores:
    return row.scores if genre == OVERALL else on_genre(row.scores, genre)


def with_style(figure: Figure, *, height: int) -> Figure:
    """Give a figure the looks of the page, for light and dark backgrounds."""
    clear = "rgba(0,0,0,0)"
    axis = {"gridcolor": "rgba(128,128,128,.25)", "zeroline": False, "linecolor": INK, "automargin": True}
    figure.update_xaxes(**axis)
    figure.update_yaxes(**axis)
    figure.update_layout(
        template="none", height=height, paper_bgcolor=clear, plot_bgcolor=clear,
        font={"color": INK, "size": 13, "family": "system-ui, sans-serif"},
        margin={"l": 50, "r": 10, "t": 10, "b": 50},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0},
        hoverlabel={"align": "left"}, dragmode=False,
    )  # fmt: skip
    return figure
