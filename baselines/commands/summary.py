"""Printed summary of a run: outcomes, and the score with chance and interval."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from musicrs_metric.base.numbers import percent
from musicrs_metric.runs.read import ScoredRun, score_predictions
from musicrs_metric.runs.references import References
from musicrs_metric.runs.run_card import RunCard
from musicrs_metric.runs.score_tables import filled_sentence, headline, score_table, sentences
from musicrs_metric.scoring import Scores

from ..run.answer_log import FILE as ANSWERS
from ..run.guard import FAILURES
from ..run.runner import RunResult
from ..run.usage import usage_lines

if TYPE_CHECKING:
    from rich.console import Console

    from ..run.order_effects import OrderEffects
    from ..run.shuffles import ShuffledResult


def score_result(result: RunResult, references: References) -> Scores:
    """Score a run on the threads that it ranked.

    Args:
        result: The run.
        references: The whole dataset.
    """
    return _scored(result, references).scores


def _scored(result: RunResult, references: References) -> ScoredRun:
    # A run with --limit has a score of its own threads, not of the dataset.
    ranked = references.subset([prediction.thread_id for prediction in result.predictions])
    return score_predictions(result.predictions, ranked)


def outcome_lines(result: RunResult, n_threads: int) -> Iterator[str]:
    """Yield lines about the number of ranked threads and their outcomes.

    Args:
        result: The run.
        n_threads: Number of threads of the dataset.
    """
    earlier = f"an earlier session ranked {result.reused} of them" if result.reused else None
    known = "; ".join(filter(None, (result.card.hardware, earlier)))  # a fused run has no hardware of its own
    return _outcome_lines(result.card, len(result.predictions), n_threads, f"ranked ({known})" if known else "ranked")


def _outcome_lines(card: RunCard, n: int, n_threads: int, ranked: str) -> Iterator[str]:
    counts = ", ".join(f"{count} {outcome}" for outcome, count in (card.outcomes or {}).items())
    yield f"{n} of {n_threads} threads {ranked}: {counts}."
    if n < n_threads:
        yield "The score covers the ranked threads only. To rank the rest, run the same command without --limit."
    ledger = card.extra.get("ledger")
    if ledger:
        counts = ", ".join(f"{n} {name}" for name, n in ledger.items())
        yield f"Reading of the answers in {ANSWERS}: {counts}."
    if "tokens" in card.extra:  # of a model behind a server
        yield from usage_lines(card.extra)
    n_failed = (card.outcomes or {}).get("failed", 0)
    if n_failed:
        yield (
            f"{n_failed} failed and got a random order: after an error (see {FAILURES}; --retry-failed tries again), "
            "or because the answer could not be read."
        )


def order_lines(effects: OrderEffects) -> Iterator[str]:
    """Yield lines about the effects of the order of the pool, with scores in percent.

    Args:
        effects: The effects.
    """
    n = len(effects.by_order)
    deviations = (effects.sd_between_orders, effects.sd_within_thread)
    between, within = (
        ", ".join(f"{name} {percent(deviation[name])}" for name in headline(effects.scores)) for deviation in deviations
    )
    yield f"Scores are means over {n} orders. Standard deviation of the score between orders: {between} %."
    yield f"Mean standard deviation within a thread: {within} %."
    agreement, bias = effects.agreement, effects.position_bias
    if agreement is not None:
        yield f"Mean correlation of two rankings of one pool in two orders: {agreement:.2f} (Spearman)."
    if bias is not None:
        interval = effects.position_bias_interval
        limits = "" if interval is None else " (95 % interval {:.3f} to {:.3f})".format(*interval)
        yield f"Position bias {bias:.3f}{limits}: 0 if the order has no effect, 1 if the ranking is the pool as shown."


def print_result(console: Console, result: RunResult, references: References, title: str) -> Scores:
    """Print outcomes and scores of a run.

    Args:
        console: Console of the output.
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


def print_shuffled(console: Console, run: ShuffledResult, references: References, title: str) -> Scores:
    """Print scores and effects of a run in several orders.

    Args:
        console: Console of the output.
        run: The run.
        references: The whole dataset.
        title: Title of the table.

    Returns:
        The scores of the mean over the orders.
    """
    scores, n_orders = run.effects.scores, len(run.effects.by_order)
    console.print(score_table(scores, f"{title}: mean of {n_orders} orders"))
    ranked = f"ranked in {n_orders} orders ({run.card.hardware})"
    outcomes = _outcome_lines(run.card, scores.n, len(references), ranked)
    for line in (*outcomes, *order_lines(run.effects), *sentences(scores)):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    return scores
