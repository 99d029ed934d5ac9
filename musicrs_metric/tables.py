"""Scores as tables and sentences for a terminal, in percent, with chance and interval in sight."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Literal

from .errors import count
from .filled import Filled
from .scoring import Scores

if TYPE_CHECKING:
    from rich.table import Table

Verdict = Literal["above", "below", "within"]

_WORDS = {
    "above": "better than chance, which lies below the interval",
    "below": "worse than chance, which lies above the interval",
    "within": "not told apart from chance, which lies within the interval",
}


def verdict(scores: Scores, measure: str) -> Verdict | None:
    """Say where a score stands to chance.

    Args:
        scores: The scores.
        measure: One of their measures.

    Returns:
        "above" or "below" where the interval of the score leaves chance out on that side, "within" where it holds it;
        None where there is no interval or no chance level.
    """
    chance = None if scores.chance is None else scores.chance[measure]
    if chance is None or scores.interval is None:
        return None
    low, high = scores.interval[measure]
    return "above" if chance < low else "below" if chance > high else "within"


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


def score_table(scores: Scores, title: str, filled: Filled | None = None) -> Table:
    """One row per measure: score, interval, chance, ceiling, and on which side of chance it lies.

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
    """One row per group: its number of threads, and score, interval and chance of the headline measures."""
    from rich.markup import escape

    names = headline(next(iter(groups.values())))
    table = _table(title, title, ["n", *(heading for name in names for heading in (name, "interval", "chance"))])
    for group, scores in groups.items():
        values = [cell for name in names for cell in cells(scores, name)]
        table.add_row(escape(group), str(scores.n), *values)
    return table


def sentences(scores: Scores) -> Iterator[str]:
    """What the numbers mean: the verdict on each headline measure, then the counts that a reader must know."""
    if scores.n_missing:
        yield f"{scores.n_missing} of {count(scores.n, 'thread')} without a prediction, counted as 0 in every number."
    for name in headline(scores):
        found = verdict(scores, name)
        if found is not None and scores.chance is not None and scores.interval is not None:
            values = f"{percent(scores.values[name])} %, chance {percent(scores.chance[name])} %"
            yield f"{name}: {_WORDS[found]} ({values}, interval {percent_interval(scores.interval[name])})."
    if scores.interval is None:
        yield "No interval: it takes two threads and a confidence level."
    counted = "counted as 0" if scores.settings["empty"] == "zero" else "left out"
    yield f"{count(scores.n, 'thread')} scored; {scores.n_empty} with an empty ground truth, {counted}."
    yield f"{count(scores.n_unknown, 'title')} unknown to the pool (kept as misses), {scores.n_duplicate} repeated."
    if scores.n_unreachable:
        yield f"{count(scores.n_unreachable, 'relevant title')} absent from the pool; the ceiling shows the cost."


def filled_sentence(filled: Filled) -> str:
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
