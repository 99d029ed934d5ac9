"""A comparison laid out as tables for people: one layout, whatever it is printed in.

Scores and differences are in per cent here; in JSON they lie between 0 and 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from .formats import NOTHING, p_value, percent, with_interval
from .results import Comparison, Effect, MetricComparison, Pair, Standing

# Beyond this a table of all pairs is not read; those with a leading system are shown, all of them are in the JSON.
PAIRS_SHOWN = 15
AMONG = ", among systems that read the same"


class Cell(NamedTuple):
    """A piece of text and whether it is the best of its column, or statistically tied with the best."""

    text: str
    mark: Literal["", "best", "tied"] = ""


@dataclass(frozen=True)
class Sheet:
    """A table.

    Attributes:
        title: What it shows.
        columns: Headings.
        rows: Cells, one per column.
        notes: What a reader has to know to understand it.
        n_text: How many columns at the left are text; the others are figures.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    n_text: int = 2


def sheets(comparison: Comparison) -> list[Sheet]:
    """Lay out a comparison.

    Args:
        comparison: The comparison.

    Returns:
        The scores of all metrics; then for every metric the standings, the pairs, and a table per grouping; the
        coverage first where a system did not answer everywhere.
    """
    is_partial = comparison.n_common < comparison.n or any(part.filled for part in comparison.coverage)
    made = [_coverage(comparison)] if is_partial else []
    made.append(_scores(comparison))
    for metric, found in comparison.metrics.items():
        made.append(_standings(metric, found, comparison))
        made.append(_pairs(metric, found, comparison))
        made += _effects(metric, found, comparison)
    return made


def _coverage(comparison: Comparison) -> Sheet:
    rows = (
        _row(part.system, str(part.n - part.n_missing), str(part.n_missing), str(part.n_no_audio), percent(part.filled))
        for part in comparison.coverage
    )
    note = f"{comparison.n_common} of {comparison.n} threads were answered by all, with audio where the system listens"
    columns = ("System", "predictions", "no prediction (scores 0)", "no audio", "filled in random order %")
    return Sheet(f"Coverage of {comparison.n} threads", columns, tuple(rows), (note,), n_text=1)


def _scores(comparison: Comparison) -> Sheet:
    metrics, names = list(comparison.metrics.values()), list(comparison.metrics)
    with_common = comparison.n_common < comparison.n
    rows = []
    if metrics[0].chance is not None:
        gaps = [NOTHING] * len(metrics) * with_common
        rows.append(_row("chance (exact)", NOTHING, *(percent(found.chance) for found in metrics), *gaps))
    for i in _by_rank(metrics[0]):
        standings = [found.standings[i] for found in metrics]
        cells = [Cell(with_interval(one.mean, one.interval), _mark(one, metrics[0])) for one in standings]
        common = [Cell(percent(one.common_mean)) for one in standings] if with_common else []
        rows.append((Cell(standings[0].system), Cell(standings[0].reads or NOTHING), *cells, *common))
    notes = [
        f"bold: best; underlined: not significantly different from the best (paired t, Holm over all pairs){AMONG}"
    ]
    if comparison.n_empty:
        how = "score 0" if comparison.settings.empty == "zero" else "are left out"
        notes.append(f"{comparison.n_empty} threads with an empty ground truth {how}")
    notes.append(_intervals_note(comparison))
    return Sheet(
        f"Scores in % [{_level(comparison)} interval], n = {comparison.n}",
        ("System", "reads", *names, *(f"{name}, common" for name in names if with_common)),
        tuple(rows),
        tuple(notes),
    )


def _standings(metric: str, found: MetricComparison, comparison: Comparison) -> Sheet:
    rows = []
    for i in _by_rank(found):
        one, against = found.standings[i], found.standings[i].chance
        verdict = [NOTHING] * 3
        if against is not None:
            difference = with_interval(against.difference, against.interval, signed=True)
            verdict = [difference, p_value(against.p), against.verdict]
        place = [NOTHING] * 2
        if not _is_alone(one, found):
            ends = one.rank_interval
            place = [f"{one.rank}" + (f" [{ends[0]}–{ends[1]}]" if ends is not None else ""), str(one.group)]
        rows.append((Cell(one.system, _mark(one, found)), *_row(one.reads or NOTHING, *verdict, *place)))
    return Sheet(
        f"{metric}: against chance in %, ranks and groups",
        ("System", "reads", "minus chance", "p", "verdict", f"rank [{_level(comparison)}]", "group"),
        tuple(rows),
        (
            f"verdict: {comparison.settings.verdict_rule}",
            *_partial_verdicts(found, comparison),
            f"group 1 is statistically tied with the best{AMONG}",
            "a system that alone reads what it reads has no rank and no group; `reads` is stated in a run card",
        ),
    )


def _partial_verdicts(found: MetricComparison, comparison: Comparison) -> Iterator[str]:
    """Name the systems whose verdict does not cover all threads."""
    for one in found.standings:
        if one.chance is not None and one.chance.n < comparison.n:
            yield (
                f"{one.system}: difference and verdict cover the threads with a prediction, {one.chance.n} of "
                f"{comparison.n}"
            )


def _intervals_note(comparison: Comparison) -> str:
    reason = comparison.settings.interval_reason
    return f"intervals: {comparison.settings.interval_method}" if reason is None else f"no intervals: {reason}"


def _pairs(metric: str, found: MetricComparison, comparison: Comparison) -> Sheet:
    rows = (
        _row(
            pair.a, pair.b, with_interval(pair.difference, pair.interval, signed=True),
            p_value(pair.p_t), p_value(pair.p_t_holm), p_value(pair.p_flip), p_value(pair.p_flip_holm),
            f"{pair.wins}/{pair.ties}/{pair.losses}", percent(pair.detectable),
        )
        for pair in _shown(found)
    )  # fmt: skip
    p_columns = ("p (t)", "p (t, Holm)", "p (flips)", "p (flips, Holm)")
    difference = f"difference [{_level(comparison)}]"
    return Sheet(
        f"{metric}: paired differences in %",
        ("System", "minus", difference, *p_columns, "win/tie/loss", "detectable"),
        tuple(rows),
        tuple(_pair_notes(found, comparison)),
    )


def _pair_notes(found: MetricComparison, comparison: Comparison) -> Iterator[str]:
    shown, n_pairs = len(_shown(found)), len(found.pairs)
    if shown < n_pairs:
        yield f"{shown} of {n_pairs} pairs, those with a leading system; JSON has all of them"
    if found.detectable is not None:
        power, family = f"{comparison.settings.power:g}", ""
        if n_pairs > 1:
            family = f", of {percent(found.detectable_in_family)} at the hardest step of Holm over {n_pairs} pairs"
        detectable = percent(found.detectable)
        yield f"{comparison.n} threads can detect a difference of {detectable} with power {power}{family}"


def _effects(metric: str, found: MetricComparison, comparison: Comparison) -> Iterator[Sheet]:
    shown = _shown(found)
    for grouping in shown[0].by:
        rows = (
            _row(pair.a, pair.b, group, f"{effect.n}{', small' if effect.small else ''}", difference)
            for pair in shown
            for group, effect in pair.by[grouping].items()
            for difference in [with_interval(effect.difference, effect.interval, signed=True)]
        )
        columns = ("System", "minus", grouping, "n", f"difference [{_level(comparison)}]")
        notes = (
            "for description: no test and no correction; a small group shows large differences only",
            *_effect_notes(shown[0].by[grouping].values()),
        )
        yield Sheet(f"{metric}: paired differences by {grouping} in %", columns, tuple(rows), notes, n_text=3)


def _effect_notes(effects: Iterable[Effect]) -> Iterator[str]:
    """State how the intervals of groups were computed, and why some are left out."""
    effects = list(effects)
    methods = sorted({one.interval_method for one in effects if one.interval_method is not None})
    if methods:
        yield f"intervals: {' or '.join(methods)}, by the number of threads"
    yield from sorted({f"no interval: {one.interval_reason}" for one in effects if one.interval_reason is not None})


def _by_rank(found: MetricComparison) -> list[int]:
    """Places of the systems: those that read the same together, and the best first in each."""
    order = {"thread": 0, None: 1, "pools": 2, "labels": 3}
    standings = found.standings
    return sorted(range(len(standings)), key=lambda i: (order[standings[i].reads], standings[i].rank, i))


def _shown(found: MetricComparison) -> list[Pair]:
    if len(found.pairs) <= PAIRS_SHOWN:
        return list(found.pairs)
    leading = {one.system for one in found.standings if one.rank == 1}
    return [pair for pair in found.pairs if pair.a in leading or pair.b in leading]


def _is_alone(one: Standing, found: MetricComparison) -> bool:
    """Whether it has nobody to be ranked with, while others are compared."""
    return len(found.standings) > 1 and sum(other.reads == one.reads for other in found.standings) == 1


def _mark(one: Standing, found: MetricComparison) -> Literal["", "best", "tied"]:
    if _is_alone(one, found):
        return ""
    if one.rank == 1:
        return "best"
    return "tied" if one.group == 1 else ""


def _row(*texts: str) -> tuple[Cell, ...]:
    return tuple(Cell(text) for text in texts)


def _level(comparison: Comparison) -> str:
    return f"{100 * comparison.settings.confidence:g} %"
