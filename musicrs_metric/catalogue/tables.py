"""Scores of dialogues as tables and sentences for a terminal, in per cent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ..base.numbers import fine_percent, percent, percent_range
from ..base.renderers.terminal import rich_table
from ..base.tables import text_table
from ..chance import Verdict
from ..errors import count
from .scores import DialogueScores

if TYPE_CHECKING:
    from rich.table import Table


def shown_measures(scores: DialogueScores) -> list[str]:
    """Return the measures of the table: all but hit rate and precision, which the JSON holds too."""
    return [name for name in scores.macro.values if not name.startswith(("hit@", "precision@"))]


def headline(scores: DialogueScores) -> list[str]:
    """Return the measures of a group: recall, nDCG and MRR at cutoff 20, or else at the largest."""
    cutoffs = scores.settings["k"]
    k = 20 if 20 in cutoffs else max(cutoffs)
    names = [f"recall@{k}", f"ndcg@{k}", f"mrr@{k}", "mrr"]
    return [name for name in names if name in scores.macro.values]


def score_table(scores: DialogueScores, title: str, verdicts: Mapping[str, Mapping[str, Verdict]]) -> Table:
    """Return one row per measure: macro and micro, each with interval, chance and verdict, and the ceiling of macro."""
    confidence = scores.settings["confidence"]
    interval = "interval" if confidence is None else f"{100 * confidence:g} % interval"
    heads = ["measure", "macro %", interval, "chance %", "", "ceiling %", "micro %", interval, "chance %", ""]
    rows = []
    for name in shown_measures(scores):
        row = [name]
        for kind, average in (("macro", scores.macro), ("micro", scores.micro)):
            chance = fine_percent(None if average.chance is None else average.chance[name])
            bounds = None if average.interval is None else average.interval[name]
            row += [percent(average.values[name]), percent_range(bounds), chance, verdicts.get(kind, {}).get(name, "")]
            row += [percent(average.ceiling[name])] * (average is scores.macro)
        rows.append(row)
    return _table(title, heads, rows)


def group_table(groups: Mapping[str, DialogueScores], column: str) -> Table:
    """Return one row per group of turns, with the micro mean, its interval and its chance level."""
    names = headline(next(iter(groups.values())))
    rows = []
    for label, scores in groups.items():
        row = [label, str(scores.n_dialogues), str(scores.n_turns)]
        for name in names:
            bounds = None if scores.micro.interval is None else scores.micro.interval[name]
            chance = None if scores.micro.chance is None else scores.micro.chance[name]
            row += [percent(scores.micro.values[name]), percent_range(bounds), fine_percent(chance)]
        rows.append(row)
    heads = [head for name in names for head in (name, "interval", "chance")]
    return _table(f"{column} (mean over turns)", [column, "dialogues", "turns", *heads], rows)


def sentences(scores: DialogueScores) -> Iterator[str]:
    """Yield the counts that a reader must know."""
    turns, dialogues = count(scores.n_turns, "turn"), count(scores.n_dialogues, "dialogue")
    yield f"macro: mean over {dialogues}; micro: mean over {turns}. Intervals draw dialogues."
    if scores.interval_reason is not None:
        yield f"No interval: {scores.interval_reason}."
    if scores.n_missing:
        yield (
            f"{count(scores.n_missing, 'turn')} without a prediction, counted as 0 in every number; "
            f"{count(scores.n_missing_dialogues, 'dialogue')} without any."
        )
    if scores.n_empty:
        counted = "counted as 0" if scores.settings["empty"] == "zero" else "excluded"
        yield f"{count(scores.n_empty, 'turn')} with an empty ground truth, {counted}."
    yield (
        f"{count(scores.n_unknown, 'ranked entry').replace('entrys', 'entries')} unknown to the data (kept as misses), "
        f"{scores.n_duplicate} repeated."
    )
    if scores.n_unreachable:
        yield f"{count(scores.n_unreachable, 'relevant item')} that cannot be ranked; the ceiling shows the cost."


def _table(title: str, heads: list[str], rows: list[list[str]]) -> Table:
    from rich.box import SIMPLE

    return rich_table(text_table(title, heads, rows), box=SIMPLE, no_wrap=heads[:1], cut=True)
