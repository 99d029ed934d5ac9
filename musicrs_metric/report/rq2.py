"""RQ2: comparison of the paradigms, by means over their rows, paired on the same threads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..base import numbers
from ..base.tables import Cell, Column, Part, Row, Table, cell
from ..compare import Comparison, System, compare
from ..paper.findings import below_chance, overall, paradigm_means
from ..paper.tables import METRICS, OVERALL, published_chance, table1
from ..scoring import Scores, ThreadTable, summarise
from .document import Block, Section, Text
from .report_data import ReportData
from .runs import PARADIGMS, ReportRun
from .table1 import SIGNS, note_signs


def paradigm_section(data: ReportData) -> Section:
    """Build the section."""
    return Section("rq2", "RQ2: how do the paradigms compare?", tuple(_blocks(data)))


def _blocks(data: ReportData) -> Iterator[Block]:
    runs = {
        paradigm: [run for run in data.runs if run.card.paradigm == paradigm]
        for paradigm in PARADIGMS
        if any(run.card.paradigm == paradigm for run in data.runs)
    }
    systems = [System(paradigm, average([run.system.table for run in found])) for paradigm, found in runs.items()]
    rows = [_paradigm_row(system.name, runs[system.name], _summary(data, system)) for system in systems]
    if len(systems) > 1:
        comparison = compare(systems, METRICS, resamples=data.resamples, seed=data.seed)
        rows += [_difference_row(comparison, i) for i in range(len(comparison.metrics[METRICS[0]].pairs))]
    yield Table(
        "Means over the rows of each paradigm in Table 1 (every system in every modality weighs the same), in per "
        "cent; below them differences in percentage points, paired by thread.",
        (
            Column("Paradigm", "left"), Column("Rows"), *(Column(numbers.measure_label(metric)) for metric in METRICS),
            Column("Best by recall@20", "left"),
        ),
        tuple(rows),
        (
            f"In a mean: {note_signs(data)}",
            "▲ ▼ in a difference: a paired t test after Holm's correction over the pairs of paradigms. The intervals "
            "cover other threads, not other systems.",
        ),
    )  # fmt: skip
    if data.reported:
        yield from _reported()


def _summary(data: ReportData, system: System) -> Scores:
    return summarise(system.table, seed=data.seed, resamples=data.resamples)


def _paradigm_row(paradigm: str, runs: list[ReportRun], scores: Scores) -> Row:
    best = max(runs, key=lambda run: run.scores.values["recall@20"] or 0.0)
    means = [
        Cell(
            (Part(numbers.percent(scores.values[metric]), sign=SIGNS[scores.verdict(metric)]),),
            numbers.percent_bounds((scores.interval or {}).get(metric)),
        )
        for metric in METRICS
    ]
    return Row(
        (
            cell(paradigm),
            cell(str(len(runs))),
            *means,
            cell(best.label, numbers.percent(best.scores.values["recall@20"])),
        )
    )


def _difference_row(comparison: Comparison, i: int) -> Row:
    pairs = [comparison.metrics[metric].pairs[i] for metric in METRICS]
    cells = []
    for pair in pairs:
        sign = "" if not pair.significant else "▲" if pair.difference > 0 else "▼"
        cells.append(Cell((Part(numbers.points(pair.difference), sign=sign),), numbers.points_bounds(pair.interval)))
    return Row((cell(f"{pairs[0].a} − {pairs[0].b}"), cell(""), *cells, cell("")))


def _reported() -> Iterator[Text]:
    rows, chance = table1(), published_chance()
    means = {metric: paradigm_means(rows, metric) for metric in METRICS}
    counts: Mapping[str, int] = {
        paradigm: sum(row.paradigm == paradigm for row in overall(rows)) for paradigm in means[METRICS[0]]
    }
    shown = [
        f"{paradigm} {' / '.join(numbers.percent(means[metric][paradigm]) for metric in METRICS)} ({n} rows)"
        for paradigm, n in counts.items()
    ]
    below = {metric: len(below_chance(rows, chance, metric)) for metric in METRICS}
    levels = " / ".join(numbers.percent(chance[OVERALL][metric]) for metric in METRICS)
    yield Text(
        f"Reported by the paper, recall@20 / nDCG@20, means over overall rows: {'; '.join(shown)}. Chance on the "
        f"published pools is {levels}: {below['recall@20']} of its {len(overall(rows))} overall rows are below it on "
        f"recall@20 and {below['ndcg@20']} on nDCG@20."
    )


def average(tables: Sequence[ThreadTable]) -> ThreadTable:
    """Average the values of several systems per thread, as if they were one system. Every system weighs the same.

    Args:
        tables: At least one, over the same threads.

    Returns:
        A table of the means. Hits, chance and ceiling are those of the first. A thread that any system lacks counts as
        one without a prediction.
    """
    missing = np.logical_or.reduce([table.hits.missing for table in tables])
    values = {name: np.mean([table.values[name] for table in tables], axis=0) for name in tables[0].values}
    return replace(tables[0], values=values, hits=replace(tables[0].hits, missing=missing))
