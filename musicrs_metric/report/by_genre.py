"""Figure 4: one measure of every system in every genre, with intervals, and chance as a line."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from ..base import numbers
from ..base.tables import Cell, Column, Part, Row, Table, cell, row
from ..paper.tables import OVERALL
from .document import Figure, Panel, Section, Series
from .report_data import ReportData, scores_on
from .runs import ReportRun

FIGURE_METRIC = "mrr"  # as in the paper
_LABEL = 40  # characters
_STEPS = (1, 2, 5, 10)


def by_genre_section(data: ReportData) -> Section:
    """Build the section."""
    runs, columns, metric = data.runs, [OVERALL, *data.genres], data.figure_metric
    name = "mean reciprocal rank" if metric == FIGURE_METRIC else numbers.measure_label(metric)
    title = name if name.startswith("nDCG") else name[0].upper() + name[1:]
    drawn = [
        value
        for run in runs
        for genre in columns
        for value in (scores_on(run, genre).values[metric], *((scores_on(run, genre).interval or {}).get(metric) or ()))
    ]
    marks = ticks(drawn)
    figure = Figure(
        name="figure-4",
        caption=f"{title} by genre and system, in per cent, with 95 % intervals. The dashed line "
        "is chance: the exact expectation of a random ranking of the same pools.",
        style="dots",
        panels=tuple(_panel(data, runs, genre, marks) for genre in columns),
        columns=4,
        legend=tuple(dict.fromkeys(_group(run) for run in runs)),
        data=_table(data, columns),
    )
    return Section("figure-4", f"Figure 4: {name} by genre and system", (figure,))


def _panel(data: ReportData, runs: Sequence[ReportRun], genre: str, marks: tuple[float, ...]) -> Panel:
    scores = [scores_on(run, genre) for run in runs]
    bounds = [(of_run.interval or {}).get(data.figure_metric) for of_run in scores]
    series = Series(
        "",
        tuple(of_run.values[data.figure_metric] for of_run in scores),
        low=tuple(None if bound is None else bound[0] for bound in bounds),
        high=tuple(None if bound is None else bound[1] for bound in bounds),
    )
    return Panel(
        title=f"{genre} (n = {numbers.thousands(scores[0].n)})",
        labels=tuple(_short(run.label) for run in runs),
        series=(series,),
        ticks=marks,
        tick_texts=tuple(numbers.quantity(mark * 100) for mark in marks),
        groups=tuple(_group(run) for run in runs),
        line=data.chance(genre).get(data.figure_metric),
    )


def _short(label: str) -> str:
    """Shorten a label, to leave room for the panels."""
    return label if len(label) <= _LABEL else f"{label[: _LABEL - 1]}…"


def _group(run: ReportRun) -> str:
    return f"{run.card.paradigm}, {numbers.modality_label(run.card.modality)}"


def _table(data: ReportData, columns: Sequence[str]) -> Table:
    metric = data.figure_metric
    levels = [numbers.percent(data.chance(genre).get(metric)) for genre in columns]
    chance = row("chance", *levels, role="chance")
    lines = []
    for run in data.runs:
        scores_by_column = [scores_on(run, genre) for genre in columns]
        cells = [
            Cell(
                (Part(numbers.percent(scores.values[metric])),),
                numbers.percent_bounds((scores.interval or {}).get(metric)),
            )
            for scores in scores_by_column
        ]
        lines.append(Row((cell(run.label), *cells)))
    heads = (Column("System", "left"), *(Column(genre) for genre in columns))
    caption = f"{numbers.measure_label(metric)} in per cent, with 95 % intervals below."
    return Table(caption, heads, (chance, *lines))


def ticks(values: Iterable[float | None], *, most: int = 5) -> tuple[float, ...]:
    """Return ticks from 0 to past the largest value, so that a figure shows no number that its data lack.

    Args:
        values: Values of the figure, at least 0. None is skipped.
        most: Largest number of intervals between ticks.

    Returns:
        Multiples of 1, 2 or 5 times a power of ten; (0, 1) if no value is above 0.
    """
    top = max((value for value in values if value is not None), default=0.0)
    if top <= 0:
        return (0.0, 1.0)
    scale: float = 10.0 ** math.floor(math.log10(top / most))
    step = next(step * scale for step in _STEPS if step * scale * most >= top * (1 - 1e-9))
    # Rounding removes what binary fractions add to 3 * 0.1.
    return tuple(round(step * i, 10) for i in range(math.ceil(top / step - 1e-9) + 1))
