"""Scores as tables and sentences, for a terminal and for a paper, in per cent with chance level and interval."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ..base.numbers import UNDEFINED, percent, percent_bounds, percent_range
from ..base.renderers.terminal import rich_table
from ..base.tables import Row, Table, cell, columns, text_table
from ..errors import count
from ..scoring import Scores
from .filled_scores import FilledScores

if TYPE_CHECKING:
    from rich.table import Table as RichTable


def verdict_rule(scores: Scores) -> str:
    """Return the rule of the verdicts, and the threads that they cover if some have no prediction."""
    if scores.answered is None or not scores.n_missing:
        return f"Verdict: {scores.verdict_rule}."
    n = scores.answered.n
    if not n:
        return f"No verdict against chance: no {scores.unit} has a prediction."
    return (
        f"Verdict: on the {count(n, scores.unit)} with a prediction alone, as the others say nothing of the system; "
        f"{scores.verdict_rule}."
    )


def shown_measures(scores: Scores) -> list[str]:
    """Return the measures of the benchmark's own tables: recall and nDCG at every cutoff, and MRR.

    The JSON holds all measures.
    """
    return [name for name in scores.values if name.startswith(("recall@", "ndcg@")) or name == "mrr"]


def headline(scores: Scores) -> list[str]:
    """Return the measures of a one-line summary: recall and nDCG at the largest cutoff, and MRR."""
    k = max(scores.settings["k"])
    return [f"recall@{k}", f"ndcg@{k}", "mrr"]


def cells(scores: Scores, measure: str) -> tuple[str, str, str]:
    """Return a measure as three cells: score, interval, chance."""
    interval = None if scores.interval is None else scores.interval[measure]
    chance = None if scores.chance is None else scores.chance[measure]
    return percent(scores.values[measure]), percent_range(interval), percent(chance)


def score_table(scores: Scores, title: str, filled: FilledScores | None = None) -> RichTable:
    """Return a table with one row per measure: score, interval, chance, ceiling, verdict against chance.

    Args:
        scores: The scores.
        title: What was scored.
        filled: Scores with the filled part at its expected value, for a last column.
    """
    confidence = scores.settings["confidence"]
    interval = "interval" if confidence is None else f"{100 * confidence:g} % interval"
    heads = ["measure", "score %", interval, "chance %", "ceiling %", "to chance"]
    rows = []
    for name in shown_measures(scores):
        ceiling, verdict = percent(scores.ceiling[name]), scores.verdict(name) or UNDEFINED
        expected = [] if filled is None else [percent(filled.expected[name])]
        rows.append([name, *cells(scores, name), ceiling, verdict, *expected])
    return _table(title, heads if filled is None else [*heads, "filled at chance %"], rows)


def group_table(groups: Mapping[str, Scores], title: str) -> RichTable:
    """Return a table with one row per group: threads, and score, interval, chance and verdict of `headline`."""
    names = headline(next(iter(groups.values())))
    partial = any(scores.n_missing for scores in groups.values())
    rows = []
    for group, scores in groups.items():
        row = [group, str(scores.n), *([str(scores.n - scores.n_missing)] if partial else [])]
        for name in names:
            value, interval, chance = cells(scores, name)
            row += [value, interval, f"{chance} {scores.verdict(name) or UNDEFINED}"]
        rows.append(row)
    heads = [head for name in names for head in (name, "interval", "chance")]
    return _table(title, [title, "n", *(["answered"] if partial else []), *heads], rows)


def sentences(scores: Scores) -> Iterator[str]:
    """Yield the verdict on each measure of `headline`, then the counts that a reader must know."""
    if scores.n_missing:
        n = count(scores.n, scores.unit)
        yield f"{scores.n_missing} of {n} without a prediction, counted as 0 in every number."
    for name in headline(scores):
        verdict = scores.verdict(name)
        if verdict is not None and scores.answered is not None:
            where = f" on the {count(scores.answered.n, scores.unit)} with a prediction" if scores.n_missing else ""
            values = f"{percent(scores.answered.values[name])} %, chance {percent(scores.answered.chance[name])} %"
            yield f"{name}: {verdict} chance{where} ({values})."
            if scores.is_constant(name):
                yield f"{name} is the same for every order of these pools; choose a smaller cutoff: `score --k 5`."
    if scores.answered is not None:
        yield verdict_rule(scores)
    if scores.interval_method is not None:
        yield f"Intervals: {scores.interval_method} over {count(scores.n, scores.unit)}."
    if scores.interval_reason is not None:
        yield f"No interval: {scores.interval_reason}."
    counted = "counted as 0" if scores.settings["empty"] == "zero" else "excluded"
    yield f"{count(scores.n, scores.unit)} scored; {scores.n_empty} with an empty ground truth, {counted}."
    yield f"{count(scores.n_unknown, 'title')} unknown to the pool (kept as misses), {scores.n_duplicate} repeated."
    if scores.n_unreachable:
        yield f"{count(scores.n_unreachable, 'relevant title')} absent from the pool; the ceiling shows the cost."


def filled_sentence(filled: FilledScores) -> str:
    """Return the shares of the pools that were answered and filled, and the meaning of the last column."""
    return (
        f"{percent(filled.answered)} % of the pools answered, {percent(filled.filled)} % filled in random order, "
        f"{count(filled.n_unanswered, 'thread')} without any answer; the last column has the filled part at its "
        "expected value."
    )


def _table(title: str, heads: list[str], rows: list[list[str]]) -> RichTable:
    from rich.box import SIMPLE

    return rich_table(text_table(title, heads, rows), box=SIMPLE, no_wrap=heads[:1], cut=True)


def paper_tables(scores: Scores, title: str) -> list[Table]:
    """Return a table of the measures, and one per grouping.

    Args:
        scores: The scores.
        title: What was scored.
    """
    tables = [_paper_measures(scores, title)]
    tables += [_paper_groups(grouping, groups, title) for grouping, groups in scores.by.items()]
    return tables


def paper_sentence(scores: Scores, title: str) -> str:
    """Return a sentence with the numbers of recall and nDCG at the largest cutoff and of MRR, ready to paste.

    Args:
        scores: The scores.
        title: What was scored.
    """
    measures = "; ".join(_clause(scores, name) for name in headline(scores))
    intervals = f", with {scores.settings['confidence'] * 100:g} % intervals" if scores.interval is not None else ""
    missing = f", {scores.n_missing} of them without a prediction and counted as 0" if scores.n_missing else ""
    empty = "counted as 0" if scores.settings["empty"] == "zero" else "excluded"
    no_truth = f"; threads with an empty ground truth ({scores.n_empty}) are {empty}" if scores.n_empty else ""
    return f"{title} reaches {measures} (in %{intervals}, n = {count(scores.n, scores.unit)}{missing}{no_truth})."


def _clause(scores: Scores, name: str) -> str:
    value = _short(scores.values[name])
    interval = "" if scores.interval is None else f" {percent_bounds(scores.interval[name])}"
    verdict = scores.verdict(name)
    if verdict is None or scores.answered is None:
        return f"{value}{interval} {name}"
    if scores.n_missing:
        # The verdict covers the threads with a prediction, so its chance level is theirs as well.
        where = f" on the {scores.answered.n} threads with a prediction"
        return f"{value}{interval} {name} ({verdict} chance{where}, {_short(scores.answered.chance[name])})"
    return f"{value}{interval} {name}, {verdict} chance {_short(scores.answered.chance[name])}"


def _short(value: float | None) -> str:
    return UNDEFINED if value is None else f"{100 * value:.1f}"


def _paper_measures(scores: Scores, title: str) -> Table:
    rows = [
        (name, *cells(scores, name), percent(scores.ceiling[name]), scores.verdict(name) or UNDEFINED)
        for name in shown_measures(scores)
    ]
    heads = ("Measure", "score", "interval", "chance", "ceiling", "to chance")
    return text_table(f"{title}: scores in %, n = {scores.n}", heads, rows, tuple(_paper_notes(scores)))


def _paper_groups(grouping: str, groups: Mapping[str, Scores], title: str) -> Table:
    names = headline(next(iter(groups.values())))
    rows = []
    for group, scores in groups.items():
        row = [cell(group), cell(str(scores.n))]
        for name in names:
            value, _, chance = cells(scores, name)
            interval = "" if scores.interval is None else percent_bounds(scores.interval[name])
            row += [cell(value, interval), cell(chance)]
        rows.append(Row(tuple(row)))
    heads = (grouping, "n", *(head for name in names for head in (name, "chance")))
    notes = tuple(dict.fromkeys(note for scores in groups.values() for note in _interval_notes(scores)))
    return Table(f"{title}: scores by {grouping} in %", columns(*heads), tuple(rows), notes)


def _paper_notes(scores: Scores) -> Iterator[str]:
    if scores.n_missing:
        yield f"{scores.n_missing} of {scores.n} threads without a prediction, counted as 0"
    if scores.n_empty:
        yield f"{scores.n_empty} threads with an empty ground truth"
    yield from _interval_notes(scores)
    if scores.answered is not None:
        yield verdict_rule(scores)


def _interval_notes(scores: Scores) -> Iterator[str]:
    if scores.interval_method is not None:
        yield f"{100 * scores.settings['confidence']:g} % intervals: {scores.interval_method}"
    if scores.interval_reason is not None:
        yield f"no interval: {scores.interval_reason}"
