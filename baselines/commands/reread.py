"""The kept answers of a run under another reading rule, beside the run's own score: how much of a score is parsing.

The values are printed and written nowhere. No run card, submission or leaderboard takes them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from musicrs_metric.answers.published import PublishedReading, read_published
from musicrs_metric.base.numbers import percent
from musicrs_metric.errors import UserError, count, some
from musicrs_metric.runs.predictions import Prediction
from musicrs_metric.runs.read import check_data, read_run, score_predictions
from musicrs_metric.runs.references import References, load_references
from musicrs_metric.runs.run_card import RunCard

from ..run.answer_log import FILE, read_answers
from .summary import ranked_only

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

Values = Mapping[str, float]
PUBLISHED = "published"
RULES = {PUBLISHED: read_published}


@dataclass(frozen=True)
class Reread:
    """One run under two reading rules, on the threads with a kept answer.

    Attributes:
        rule: Name of the other rule.
        card: The run's card.
        n_threads: Threads of the run.
        readings: The answers under that rule, one per thread with a kept answer.
        own: Means of the run's own rankings; the candidates that it appended have their expected value.
        own_answered: The same without these candidates.
    """

    rule: str
    card: RunCard
    n_threads: int
    readings: Sequence[PublishedReading]
    own: Values
    own_answered: Values

    def other(self, *, with_rest: bool = True) -> dict[str, float]:
        """Means over the readings; see `PublishedReading.values`."""
        values = [reading.values(with_rest=with_rest) for reading in self.readings]
        return {name: float(np.mean([each[name] for each in values])) for name in values[0]}


def reread(run: Path, rule: str = PUBLISHED, dataset: str | None = None) -> Reread:
    """Read the kept answers of a run again.

    Args:
        run: A run folder with `answers.jsonl`.
        rule: Name of the reading rule, one of `RULES`.
        dataset: Directory or name of its dataset; None for the one that its card names.

    Returns:
        Both scores.

    Raises:
        UserError: The folder holds no run or no answers, or another dataset was named than the run was made on.
    """
    if not run.is_dir():
        raise UserError(f"{run}: no such folder; expected the folder of a run")
    found = read_run(run)
    card = found.card
    if card is None:
        raise UserError(f"{run}: holds no run.json, expected the folder of a run of `python -m baselines run`")
    answers = read_answers(run)
    if all(answer is None for answer in answers.values()):
        asked = f"protocol {card.protocol}" if card.protocol else card.paradigm
        raise UserError(
            f"{run}: holds no answers in {FILE} ({asked}); expected a run in which a language model wrote its rankings"
        )
    references = load_references(dataset or card.dataset, card.config)
    check_data(card, references, str(run / "run.json"))
    predictions = found.predictions.predictions
    foreign = [name for name in answers if name not in {prediction.thread_id for prediction in predictions}]
    if foreign:
        raise UserError(
            f"{run / FILE}: holds {some(foreign)}, which the predictions lack; the run was changed since it ended"
        )
    answered = [prediction for prediction in predictions if prediction.thread_id in answers]
    part = ranked_only(references, answered)
    texts = [answers[thread_id] for thread_id in part.thread_ids]
    readings = [RULES[rule](*each) for each in zip(texts, part.candidates, part.ground_truth, strict=True)]
    own, own_answered = _own(answered, part)
    return Reread(rule, card, len(predictions), readings, own, own_answered)


def print_reread(console: Console, run: Path, result: Reread) -> None:
    """Print both scores side by side with their differences, and what stands behind them."""
    console.print(_table(result, str(run)))
    for line in _lines(result):
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def _own(predictions: Sequence[Prediction], references: References) -> tuple[Values, Values]:
    whole = score_predictions(predictions, references, confidence=None)
    answered = score_predictions(predictions, references, confidence=None, answered_only=True)
    values = whole.scores.values if whole.filled is None else whole.filled.expected
    return _numbers(values), _numbers(answered.scores.values)


def _numbers(values: Mapping[str, float | None]) -> dict[str, float]:
    return {name: value or 0.0 for name, value in values.items()}


def _table(result: Reread, title: str) -> Table:
    from rich.box import SIMPLE
    from rich.table import Table

    table = Table(title=f"{title}: the same answers under two reading rules, in %", box=SIMPLE)
    table.add_column("measure", no_wrap=True)
    rule = f"{result.rule} rule"
    for heading in ("this run", rule, "difference", "answered part: this run", rule, "difference"):
        table.add_column(heading, justify="right")
    pairs = ((result.own, result.other()), (result.own_answered, result.other(with_rest=False)))
    for name in pairs[0][1]:
        cells = [cell for own, other in pairs for cell in _cells(own[name], other[name])]
        table.add_row(name, *cells)
    return table


def _cells(own: float, other: float) -> tuple[str, str, str]:
    return percent(own), percent(other), f"{100 * (other - own):+.2f}"


def _lines(result: Reread) -> Iterator[str]:
    n = len(result.readings)
    titles, unknown, repeated = (
        sum(counts)
        for counts in zip(*((len(r.titles), r.n_unknown, r.n_repeated) for r in result.readings), strict=True)
    )
    yield (
        f"The published rule splits answers at commas: {count(titles, 'title')} in {count(n, 'answer')}, {unknown} of "
        f"them no candidate and {repeated} repeated. A repeat counts again, so a score can pass 100 %."
    )
    yield "Candidates that an answer does not name follow at their expected value; the answered part is scored alone."
    if n < result.n_threads:
        yield (
            f"{count(result.n_threads - n, 'thread')} without a kept answer are in neither score, as in the published "
            "scorer."
        )
    if result.card.protocol == "listwise":
        yield "This run asked for numbers, which the published rule does not read; use a run with --protocol titles."
    yield "These values are printed only. No run card, submission or leaderboard takes them."
