"""Scores as tables and sentences for a terminal, in percent, with chance and interval in sight."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ..chance import VERDICT_RULE, Verdict
from ..errors import count
from ..scoring import Scores
from .filled_scores import FilledScores

if TYPE_CHECKING:
    from rich.table import Table


def verdict(scores: Scores, measure: str) -> Verdict | None:
    """Return `Scores.verdict`, whose rule is `musicrs_metric.chance.VERDICT_RULE`."""
    return scores.verdict(measure)


def verdict_rule(scores: Scores) -> str:
    """State the rule of the verdicts, and the threads that they cover where some have no prediction."""
    if scores.answered is None or not scores.n_missing:
        return f"Verdict: {VERDICT_RULE}."
    n = scores.answered.n
    if not n:
        return "No verdict against chance: no thread has a prediction."
    return (
        f"Verdict: on the {count(n, 'thread')} with a prediction alone, as the others say nothing of the system; "
        f"{VERDICT_RULE}."
    )


def shown_measures(scores: Scores) -> list[str]:
    """The measures of the benchmark's own tables: recall and nDCG at every cutoff, and MRR; the rest is in the JSON."""
    return [name for name in scores.values if name.startswith(("recall@", "ndcg@")) or name == "mrr"]


def headline(scores: Scores) -> list[str]:
    """The measures to put in one line: recall and nDCG at the largest cutoff, and MRR."""
    k = max(scores.settings["k"])
    return [f"recall@{k}", f"ndcg@{k}", "mrr"]


def percent(value: float | None) -> str:
    """A score in percent with two digits; a dash where there is none."""
    return "–" if value is None else f"{100 * value:.2f}"


def percent_interval(pair: tuple[float, float] | None) -> str:
    """An interval in percent; a dash where there is none."""
    return "–" if pair is None else f"{percent(pair[0])}–{percent(pair[1])}"


def cells(scores: Scores, measure: str) -> tuple[str, str, str]:
    """A measure as the three cells that belong together: score, interval, chance."""
    interval = None if scores.interval is None else scores.interval[measure]
    chance = None if scores.chance is None else scores.chance[measure]
    return percent(scores.values[measure]), percent_interval(interval), percent(chance)


def score_table(scores: Scores, title: str, filled: FilledScores | None = None) -> Table:
    """One row per measure: score, interval, chance, ceiling, and the verdict against chance.

    Args:
        scores: The scores.
        title: What was scored.
        filled: What was appended to the answers, for a last column: the score with that at chance.
    """
    confidence = scores.settings["confidence"]
    interval = "interval" if confidence is None else f"{100 * confidence:g} % interval"
    last = [] if filled is None else ["filled at chance %"]
    table = _table(title, "measure", ["score %", interval, "chance %", "ceiling %", "to chance", *last])
    for name in shown_measures(scores):
        row = [*cells(scores, name), percent(scores.ceiling[name]), verdict(scores, name) or "–"]
        table.add_row(name, *row, *([] if filled is None else [percent(filled.expected[name])]))
    return table


def group_table(groups: Mapping[str, Scores], title: str) -> Table:
    """One row per group: its number of threads, and score, interval, chance and verdict of the headline measures."""
    from rich.markup import escape

    names = headline(next(iter(groups.values())))
    headings = [heading for name in names for heading in (name, "interval", "chance")]
    partial = any(scores.n_missing for scores in groups.values())
    table = _table(title, title, ["n", *(["answered"] if partial else []), *headings])
    for group, scores in groups.items():
        values = []
        for name in names:
            value, interval, chance = cells(scores, name)
            values += [value, interval, f"{chance} {verdict(scores, name) or '–'}"]
        answered = [str(scores.n - scores.n_missing)] if partial else []
        table.add_row(escape(group), str(scores.n), *answered, *values)
    return table


def sentences(scores: Scores) -> Iterator[str]:
    """What the numbers mean: the verdict on each headline measure, then the counts that a reader must know."""
    if scores.n_missing:
        yield f"{scores.n_missing} of {count(scores.n, 'thread')} without a prediction, counted as 0 in every number."
    for name in headline(scores):
        found = verdict(scores, name)
        if found is not None and scores.answered is not None:
            where = f" on the {count(scores.answered.n, 'thread')} with a prediction" if scores.n_missing else ""
            values = f"{percent(scores.answered.values[name])} %, chance {percent(scores.answered.chance[name])} %"
            yield f"{name}: {found} chance{where} ({values})."
    if scores.answered is not None:
        yield verdict_rule(scores)
    if scores.interval_method is not None:
        yield f"Intervals: {scores.interval_method} over {count(scores.n, 'thread')}."
    if scores.interval_reason is not None:
        yield f"No interval: {scores.interval_reason}."
    counted = "counted as 0" if scores.settings["empty"] == "zero" else "left out"
    yield f"{count(scores.n, 'thread')} scored; {scores.n_empty} with an empty ground truth, {counted}."
    yield f"{count(scores.n_unknown, 'title')} unknown to the pool (kept as misses), {scores.n_duplicate} repeated."
    if scores.n_unreachable:
        yield f"{count(scores.n_unreachable, 'relevant title')} absent from the pool; the ceiling shows the cost."


def filled_sentence(filled: FilledScores) -> str:
    """How much of the pools was answered, how much appended, and where the score without the luck of that stands."""
    return (
        f"{percent(filled.answered)} % of the pools answered, {percent(filled.filled)} % filled in random order, "
        f"{count(filled.n_unanswered, 'thread')} without any answer; the last column has the filled part at its "
        "expected value."
    )


def _table(title: str, first: str, others: list[str]) -> Table:
    from rich.box import SIMPLE
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=escape(title), title_justify="left", box=SIMPLE)
    table.add_column(first, no_wrap=True)
    for heading in others:
        table.add_column(heading, justify="right")
    return table
