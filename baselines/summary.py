"""The end of a run for a person: how the answers came about, and the score with chance and interval."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from musicrs_metric.predictions import Prediction
from musicrs_metric.references import References
from musicrs_metric.runs import score_predictions
from musicrs_metric.scoring import Scores
from musicrs_metric.tables import score_table, sentences

from .answers import FAILURES
from .runner import Result

if TYPE_CHECKING:
    from rich.console import Console


def score_result(result: Result, references: References) -> Scores:
    """Score a run on the threads that it was asked to rank.

    Args:
        result: The run.
        references: The whole dataset.
    """
    return score_predictions(result.predictions, ranked_only(references, result.predictions)).scores


def ranked_only(references: References, predictions: Sequence[Prediction]) -> References:
    """Leave out the threads that a limited run did not come to; its score is not that of the dataset."""
    if len(predictions) == len(references):
        return references
    places = [references.position[prediction.thread_id] for prediction in predictions]
    return replace(
        references,
        thread_ids=[references.thread_ids[place] for place in places],
        candidates=[references.candidates[place] for place in places],
        ground_truth=[references.ground_truth[place] for place in places],
        groups={name: [labels[place] for place in places] for name, labels in references.groups.items()},
    )


def outcome_lines(result: Result, n_threads: int) -> Iterator[str]:
    """Say how many threads were ranked, from when, and how the answers came about.

    Args:
        result: The run.
        n_threads: Number of threads of the dataset.
    """
    n = len(result.predictions)
    counts = ", ".join(f"{count} {outcome}" for outcome, count in (result.card.outcomes or {}).items())
    hands = f"{result.card.hardware}, {result.reused} of them in an earlier session"
    yield f"{n} of {n_threads} threads ranked ({hands}): {counts}."
    if n < n_threads:
        yield "The score is that of the threads ranked and cannot be compared; run again without --limit to finish."
    n_failed = (result.card.outcomes or {}).get("failed", 0)
    if n_failed:
        yield f"{n_failed} failed and count with a random order; see {FAILURES}, and --retry-failed to try again."


def print_result(console: Console, result: Result, references: References, title: str) -> Scores:
    """Print how a run went and what it scores.

    Args:
        console: Where to.
        result: The run.
        references: The whole dataset.
        title: Title of the table.

    Returns:
        The scores.
    """
    scores = score_result(result, references)
    console.print(score_table(scores, title))
    for line in (*outcome_lines(result, len(references)), *sentences(scores)):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    return scores
