"""The short answer of a comparison: one line per system for one measure, which fits a terminal for 20 systems."""

from __future__ import annotations

from collections.abc import Iterator

from ..base.numbers import UNDEFINED, percent_no_negative_zero, percent_with_interval, plural
from ..base.tables import Row, Table, cell, columns, row
from .results import Comparison, MetricComparison, Standing
from .tables import by_rank, effect_tables, emphasis, is_alone, level

READS = {"thread": "its own thread", "pools": "other pools", "labels": "labels", None: "unknown data"}


def summary_tables(metric: str, comparison: Comparison) -> list[Table]:
    """Return the summary of one measure, and one table of differences per grouping that the comparison has."""
    return [_summary(metric, comparison), *effect_tables(metric, comparison.metrics[metric], comparison)]


def _summary(metric: str, comparison: Comparison) -> Table:
    """Lay out score, verdict and group. Systems that read the same are next to each other, the best first."""
    result = comparison.metrics[metric]
    several = len({standing.reads for standing in result.standings}) > 1
    rows = [row("chance (exact)", percent_no_negative_zero(result.chance), UNDEFINED, UNDEFINED)]
    rows = rows if result.chance is not None else []
    for i in by_rank(result):
        standing = result.standings[i]
        verdict = UNDEFINED if standing.chance is None else f"{standing.chance.verdict} chance"
        group = UNDEFINED if is_alone(standing, result) else _group(standing, several=several)
        score = percent_with_interval(standing.mean, standing.interval)
        cells = (cell(standing.system), cell(score, emphasis=emphasis(standing, result)), cell(verdict), cell(group))
        rows.append(Row(cells))
    caption = f"{metric} in % [{level(comparison)} interval], {plural(comparison.n, comparison.settings.unit)}"
    heads = columns("System", metric, "verdict", "group", n_left=1)
    return Table(caption, heads, tuple(rows), tuple(_notes(result, comparison, several=several)))


def _group(standing: Standing, *, several: bool) -> str:
    return f"{standing.group}, {standing.reads or '?'}" if several else str(standing.group)


def _notes(result: MetricComparison, comparison: Comparison, *, several: bool) -> Iterator[str]:
    if not all(is_alone(standing, result) for standing in result.standings):
        yield "group 1: not significantly different from the best of the group (paired t, Holm over all pairs)"
    if several:
        kinds = dict.fromkeys(result.standings[i].reads for i in by_rank(result))
        words = "; ".join(
            f"{READS[kind]}: {', '.join(each.system for each in result.standings if each.reads == kind)}"
            for kind in kinds
        )
        yield f"not ranked together, as they read different data ({words})"
        if None in kinds:
            yield "a run card states what a system reads: python -m musicrs_metric card"
    unit = comparison.settings.unit
    for part in comparison.coverage:
        if part.n_missing:
            yield f"{part.system}: {part.n_missing} of {part.n} {unit}s without a prediction, which score 0"
        if part.n_no_audio:
            yield f"{part.system}: {part.n_no_audio} of {part.n} {unit}s without audio"
        if part.filled:
            yield f"{part.system}: {percent_no_negative_zero(part.filled)} % of the pools filled in random order"
    if comparison.settings.interval_reason is not None:
        yield f"no intervals: {comparison.settings.interval_reason}"
    yield "--details prints every measure, the pairs and their tests"
