"""Figure 4: MRR of every system in every genre, with its interval, and chance as a line."""

from __future__ import annotations

from collections.abc import Sequence

from ..base import numbers
from ..base.tables import Cell, Column, Part, Row, Table, cell
from ..paper.tables import OVERALL
from .axes import ticks
from .document import Figure, Panel, Section, Series
from .report_data import Evidence, scores_on
from .runs import ReportRun

METRIC = "mrr"
_LABEL = 40  # characters


def mrr_section(evidence: Evidence) -> Section:
    """Build the section."""
    runs, columns = evidence.runs, [OVERALL, *evidence.genres]
    drawn = [
        value
        for run in runs
        for genre in columns
        for value in (scores_on(run, genre).values[METRIC], *((scores_on(run, genre).interval or {}).get(METRIC) or ()))
    ]
    marks = ticks(drawn)
    figure = Figure(
        name="figure-4",
        caption="Mean reciprocal rank by genre and system, in per cent, with 95 % intervals. The dashed line "
        "is chance: the exact expectation of a random ranking of the same pools.",
        style="dots",
        panels=tuple(_panel(evidence, runs, genre, marks) for genre in columns),
        columns=4,
        legend=tuple(dict.fromkeys(_group(run) for run in runs)),
        data=_table(evidence, columns),
    )
    return Section("figure-4", "Figure 4: mean reciprocal rank by genre and system", (figure,))


def _panel(evidence: Evidence, runs: Sequence[ReportRun], genre: str, marks: tuple[float, ...]) -> Panel:
    scores = [scores_on(run, genre) for run in runs]
    bounds = [(found.interval or {}).get(METRIC) for found in scores]
    series = Series(
        "",
        tuple(found.values[METRIC] for found in scores),
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
        line=evidence.chance(genre).get(METRIC),
    )


def _short(label: str) -> str:
    """A label that leaves room for the panels."""
    return label if len(label) <= _LABEL else f"{label[: _LABEL - 1]}…"


def _group(run: ReportRun) -> str:
    return f"{run.card.paradigm}, {numbers.modality_label(run.card.modality)}"


def _table(evidence: Evidence, columns: Sequence[str]) -> Table:
    chance = Row(
        (cell("chance"), *(cell(numbers.percent(evidence.chance(genre).get(METRIC))) for genre in columns)), "chance"
    )
    lines = []
    for run in evidence.runs:
        found = [scores_on(run, genre) for genre in columns]
        cells = [
            Cell(
                (Part(numbers.percent(scores.values[METRIC])),),
                numbers.percent_bounds((scores.interval or {}).get(METRIC)),
            )
            for scores in found
        ]
        lines.append(Row((cell(run.label), *cells)))
    heads = (Column("System", "left"), *(Column(genre) for genre in columns))
    return Table("MRR in per cent, with 95 % intervals below.", heads, (chance, *lines))
