"""Tables of a comparison. Scores and differences are in per cent here; in JSON they are between 0 and 1."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..base.numbers import UNDEFINED, p_value
from ..base.numbers import percent_no_negative_zero as percent
from ..base.numbers import percent_with_interval as with_interval
from ..base.tables import Emphasis, Row, Table, cell, columns, row, text_table
from .results import Comparison, Effect, MetricComparison, Pair, Standing

# Nobody reads a table of more pairs. It then shows those with a leading system; the JSON has all of them.
PAIRS_SHOWN = 15
AMONG = ", among systems that read the same"


def comparison_tables(comparison: Comparison) -> list[Table]:
    """Lay out a comparison.

    Args:
        comparison: The comparison.

    Returns:
        The coverage, if a system did not answer every thread. The scores of all metrics. Then per metric the standings,
        the pairs, and one table per grouping.
    """
    is_partial = comparison.n_common < comparison.n or any(part.filled for part in comparison.coverage)
    tables = [_coverage(comparison)] if is_partial else []
    tables.append(_scores(comparison))
    for metric, result in comparison.metrics.items():
        tables.append(_standings(metric, result, comparison))
        tables.append(_pairs(metric, result, comparison))
        tables += effect_tables(metric, result, comparison)
    return tables


def _coverage(comparison: Comparison) -> Table:
    rows = (
        (part.system, str(part.n - part.n_missing), str(part.n_missing), str(part.n_no_audio), percent(part.filled))
        for part in comparison.coverage
    )
    n = f"{comparison.n} {comparison.settings.unit}s"
    note = f"{comparison.n_common} of {n} were answered by all, with audio if the system uses audio"
    heads = ("System", "predictions", "no prediction (scores 0)", "no audio", "filled in random order %")
    return text_table(f"Coverage of {n}", heads, rows, (note,))


def _scores(comparison: Comparison) -> Table:
    metrics, names = list(comparison.metrics.values()), list(comparison.metrics)
    with_common = comparison.n_common < comparison.n
    rows = []
    if metrics[0].chance is not None:
        gaps = [UNDEFINED] * len(metrics) * with_common
        rows.append(row("chance (exact)", UNDEFINED, *(percent(result.chance) for result in metrics), *gaps))
    for i in by_rank(metrics[0]):
        standings = [result.standings[i] for result in metrics]
        scores = [
            cell(with_interval(standing.mean, standing.interval), emphasis=emphasis(standing, metrics[0]))
            for standing in standings
        ]
        common = [cell(percent(standing.common_mean)) for standing in standings] if with_common else []
        rows.append(Row((cell(standings[0].system), cell(standings[0].reads or UNDEFINED), *scores, *common)))
    notes = [
        f"bold: best; underlined: not significantly different from the best (paired t, Holm over all pairs){AMONG}"
    ]
    if comparison.n_empty:
        rule = "score 0" if comparison.settings.empty == "zero" else "are excluded"
        notes.append(f"{comparison.n_empty} {comparison.settings.unit}s with an empty ground truth {rule}")
    notes.append(_intervals_note(comparison))
    heads = ("System", "reads", *names, *(f"{name}, common" for name in names if with_common))
    return Table(
        f"Scores in % [{level(comparison)} interval], n = {comparison.n}",
        columns(*heads, n_left=2),
        tuple(rows),
        tuple(notes),
    )


def _standings(metric: str, result: MetricComparison, comparison: Comparison) -> Table:
    rows = []
    for i in by_rank(result):
        standing, against = result.standings[i], result.standings[i].chance
        verdict = [UNDEFINED] * 3
        if against is not None:
            difference = with_interval(against.difference, against.interval, signed=True)
            verdict = [difference, p_value(against.p), against.verdict]
        rank = [UNDEFINED] * 2
        if not is_alone(standing, result):
            ends = standing.rank_interval
            rank = [f"{standing.rank}" + (f" [{ends[0]}–{ends[1]}]" if ends else ""), str(standing.group)]
        texts = (standing.reads or UNDEFINED, *verdict, *rank)
        rows.append(Row((cell(standing.system, emphasis=emphasis(standing, result)), *map(cell, texts))))
    heads = ("System", "reads", "minus chance", "p", "verdict", f"rank [{level(comparison)}]", "group")
    return Table(
        f"{metric}: against chance in %, ranks and groups",
        columns(*heads, n_left=2),
        tuple(rows),
        (
            f"verdict: {comparison.settings.verdict_rule}",
            *_partial_verdicts(result, comparison),
            f"group 1 is statistically tied with the best{AMONG}",
            "rank: interval over resampled threads, without a correction; group: with it",
            "a system without peers has no rank and no group; the run card states what a system reads",
        ),
    )


def _partial_verdicts(result: MetricComparison, comparison: Comparison) -> Iterator[str]:
    """Name the systems whose verdict does not cover all threads."""
    for standing in result.standings:
        if standing.chance is not None and standing.chance.n < comparison.n:
            yield (
                f"{standing.system}: difference and verdict cover the threads with a prediction, {standing.chance.n} "
                f"of {comparison.n}"
            )


def _intervals_note(comparison: Comparison) -> str:
    reason = comparison.settings.interval_reason
    return f"intervals: {comparison.settings.interval_method}" if reason is None else f"no intervals: {reason}"


def _pairs(metric: str, result: MetricComparison, comparison: Comparison) -> Table:
    rows = (
        (
            pair.a, pair.b, with_interval(pair.difference, pair.interval, signed=True),
            p_value(pair.p_t), p_value(pair.p_t_holm), p_value(pair.p_flip), p_value(pair.p_flip_holm),
            f"{pair.wins}/{pair.ties}/{pair.losses}", percent(pair.detectable),
        )
        for pair in _shown(result)
    )  # fmt: skip
    p_columns = ("p (t)", "p (t, Holm)", "p (flips)", "p (flips, Holm)")
    heads = ("System", "minus", f"difference [{level(comparison)}]", *p_columns, "win/tie/loss", "detectable")
    return text_table(f"{metric}: paired differences in %", heads, rows, _pair_notes(result, comparison), n_left=2)


def _pair_notes(result: MetricComparison, comparison: Comparison) -> Iterator[str]:
    shown, n_pairs = len(_shown(result)), len(result.pairs)
    if shown < n_pairs:
        yield f"{shown} of {n_pairs} pairs, those with a leading system; JSON has all of them"
    if result.detectable is not None:
        power, family = f"{comparison.settings.power:g}", ""
        if n_pairs > 1:
            family = f", of {percent(result.detectable_in_family)} at the hardest step of Holm over {n_pairs} pairs"
        detectable = percent(result.detectable)
        n = f"{comparison.n} {comparison.settings.unit}s"
        yield f"{n} can detect a difference of {detectable} with power {power}{family}"


def effect_tables(metric: str, result: MetricComparison, comparison: Comparison) -> Iterator[Table]:
    """Yield one table of paired differences per grouping."""
    shown = _shown(result)
    for grouping in shown[0].by:
        rows = (
            (pair.a, pair.b, group, f"{effect.n}{', small' if effect.small else ''}", difference)
            for pair in shown
            for group, effect in pair.by[grouping].items()
            for difference in [with_interval(effect.difference, effect.interval, signed=True)]
        )
        heads = ("System", "minus", grouping, "n", f"difference [{level(comparison)}]")
        notes = (
            "for description: no test and no correction; a small group shows large differences only",
            *_effect_notes(shown[0].by[grouping].values()),
        )
        yield text_table(f"{metric}: paired differences by {grouping} in %", heads, rows, notes, n_left=3)


def _effect_notes(effects: Iterable[Effect]) -> Iterator[str]:
    effects = list(effects)
    methods = sorted({effect.interval_method for effect in effects if effect.interval_method is not None})
    if methods:
        yield f"intervals: {' or '.join(methods)}, by the number of threads"
    reasons = {effect.interval_reason for effect in effects if effect.interval_reason is not None}
    yield from sorted(f"no interval: {reason}" for reason in reasons)


def by_rank(result: MetricComparison) -> list[int]:
    """Positions of the systems: grouped by what they read, the best first in each group."""
    order = {"thread": 0, None: 1, "pools": 2, "labels": 3}
    standings = result.standings
    return sorted(range(len(standings)), key=lambda i: (order[standings[i].reads], standings[i].rank, i))


def _shown(result: MetricComparison) -> list[Pair]:
    if len(result.pairs) <= PAIRS_SHOWN:
        return list(result.pairs)
    leading = {standing.system for standing in result.standings if standing.rank == 1}
    return [pair for pair in result.pairs if pair.a in leading or pair.b in leading]


def is_alone(standing: Standing, result: MetricComparison) -> bool:
    """Report whether no other system reads the same, although others are compared."""
    return len(result.standings) > 1 and sum(other.reads == standing.reads for other in result.standings) == 1


def emphasis(standing: Standing, result: MetricComparison) -> Emphasis:
    """Return the emphasis of a score: best, tied with the best, or none for a system without peers."""
    if is_alone(standing, result):
        return ""
    if standing.rank == 1:
        return "best"
    return "tied" if standing.group == 1 else ""


def level(comparison: Comparison) -> str:
    """Return the coverage of the intervals, such as "95 %"."""
    return f"{100 * comparison.settings.confidence:g} %"
