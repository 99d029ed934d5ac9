"""The end of a run for a person: how the answers came about, and the score with chance and interval."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from musicrs_metric.base.numbers import percent
from musicrs_metric.runs.predictions import Prediction
from musicrs_metric.runs.read import ScoredRun, score_predictions
from musicrs_metric.runs.references import References
from musicrs_metric.runs.run_card import RunCard
from musicrs_metric.runs.score_tables import filled_sentence, headline, score_table, sentences
from musicrs_metric.scoring import Scores

from ..run.answer_log import FILE as ANSWERS
from ..run.guard import FAILURES
from ..run.runner import Result
from ..run.usage import usage_lines

if TYPE_CHECKING:
    from rich.console import Console

    from ..run.order_effects import OrderEffects
    from ..run.shuffles import Shuffled


def score_result(result: Result, references: References) -> Scores:
    """Score a run on the threads that it was asked to rank.

    Args:
        result: The run.
        references: The whole dataset.
    """
    return _scored(result, references).scores


def _scored(result: Result, references: References) -> ScoredRun:
    return score_predictions(result.predictions, ranked_only(references, result.predictions))


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
    earlier = f"; {result.reused} of them were ranked by an earlier run" if result.reused else ""
    return _outcome_lines(result.card, len(result.predictions), n_threads, f"ranked ({result.card.hardware}{earlier})")


def _outcome_lines(card: RunCard, n: int, n_threads: int, how: str) -> Iterator[str]:
    counts = ", ".join(f"{count} {outcome}" for outcome, count in (card.outcomes or {}).items())
    yield f"{n} of {n_threads} threads {how}: {counts}."
    if n < n_threads:
        yield "The score is that of the threads ranked and cannot be compared; run again without --limit to finish."
    read = card.extra.get("ledger")
    if read:
        counts = ", ".join(f"{n} {name}" for name, n in read.items())
        yield f"Account of the answers, which are in {ANSWERS}: {counts}."
    yield from usage_lines(card.extra)
    n_failed = (card.outcomes or {}).get("failed", 0)
    if n_failed:
        yield (
            f"{n_failed} failed and count with a random order: an error, which {FAILURES} tells and --retry-failed may "
            "mend, or an answer in which nothing could be read."
        )


def order_lines(effects: OrderEffects) -> Iterator[str]:
    """Say what the order of the pool does to the score, in percent where it is a score.

    Args:
        effects: What it does.
    """
    n = len(effects.by_order)
    deviations = (effects.sd_between_orders, effects.sd_within_thread)
    between, within = (
        ", ".join(f"{name} {percent(deviation[name])}" for name in headline(effects.scores)) for deviation in deviations
    )
    yield f"Scores are means over {n} orders. Standard deviation between the orders' scores: {between} %."
    yield f"The same within a thread, on average: {within} %."
    agreement, bias = effects.agreement, effects.position_bias
    if agreement is not None:
        yield f"Two rankings of one pool in two orders correlate by {agreement:.2f} on average (Spearman)."
    if bias is not None:
        interval = effects.position_bias_interval
        limits = "" if interval is None else " (95 % interval {:.3f} to {:.3f})".format(*interval)
        yield f"Position bias {bias:.3f}{limits}: 0 where the order plays no part, 1 for the pool as it is shown."


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
    run = _scored(result, references)
    scores, filled = run.scores, () if run.filled is None else (filled_sentence(run.filled),)
    console.print(score_table(scores, title, run.filled))
    for line in (*outcome_lines(result, len(references)), *filled, *sentences(scores)):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    return scores


def print_shuffled(console: Console, run: Shuffled, references: References, title: str) -> Scores:
    """Print what a run in several orders scores, and what the order does.

    Args:
        console: Where to.
        run: The run.
        references: The whole dataset.
        title: Title of the table.

    Returns:
        The scores of the mean over the orders.
    """
    scores, n_orders = run.effects.scores, len(run.effects.by_order)
    console.print(score_table(scores, f"{title}: mean of {n_orders} orders"))
    how = f"ranked in {n_orders} orders ({run.card.hardware})"
    outcomes = _outcome_lines(run.card, scores.n, len(references), how)
    for line in (*outcomes, *order_lines(run.effects), *sentences(scores)):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    return scores
