"""Run the adversaries on the pools of a dataset, and compare each with chance."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from statistics import mean, stdev

from musicrs_metric.catalogue.compare import dialogue_table
from musicrs_metric.catalogue.corpus import DIALOGUE
from musicrs_metric.errors import UserError
from musicrs_metric.hits import hits_from_strings
from musicrs_metric.scoring import Empty, Scores, summarise, thread_table

from ..pools.files import fingerprint_of
from ..records import Thread
from .adversary import Adversary, Weights, rankings
from .catalogue import ADVERSARIES
from .faults import collisions, evenness, left_overs, shared_entities
from .results import AdversaryResult, Audit, EffectSize
from .verdict import verdicts

CUTOFF = 20
# Orderings of tied candidates. The mean of 20 varies a quarter as much as a single one.
SEEDS = 20
MEASURES = (f"recall@{CUTOFF}", f"ndcg@{CUTOFF}", "mrr")


def audit(
    threads: Sequence[Thread],
    adversaries: Sequence[Adversary] = ADVERSARIES,
    *,
    seeds: int = SEEDS,
    empty: Empty = "zero",
    track: Callable[[Sequence[Adversary]], Iterable[Adversary]] = lambda adversaries: adversaries,
) -> Audit:
    """Audit pools.

    Args:
        threads: Threads with pools, ground truth, entities and, for some adversaries, queries.
        adversaries: Adversaries to try; see `catalogue` and `meaning.embedding_adversaries`.
        seeds: Orderings to try for each adversary with shuffled ties, at least 1.
        empty: Treatment of threads without ground truth: they count as "zero", or are excluded ("skip").
        track: Wraps the loop over adversaries, e.g. in a progress bar.

    Returns:
        The audit; the same arguments give the same digits.

    Raises:
        UserError: There are no threads, or a thread has no pool.
    """
    if not threads:
        raise UserError("no threads to audit: found 0, expected at least 1")
    for thread in threads:
        if not thread.candidates:
            raise UserError(f"thread {thread.thread_id} has no pool; draw one with `python -m musicrs_dataset pools`")
    findings = tuple(_try(adversary, threads, seeds, empty) for adversary in track(adversaries))
    left_over, doubles = left_overs(threads), collisions(threads)
    n_empty = sum(not thread.ground_truth for thread in threads)
    return Audit(
        fingerprint=fingerprint_of(threads),
        n=len(threads) - (n_empty if empty == "skip" else 0),
        n_empty=n_empty,
        empty=empty,
        seeds=seeds,
        findings=findings,
        left_over=left_over,
        collisions=doubles,
        evenness=evenness(threads),
        shared_entities=shared_entities(threads),
        verdicts=verdicts(findings, left_over, doubles),
    )


def _try(adversary: Adversary, threads: Sequence[Thread], seeds: int, empty: Empty) -> AdversaryResult:
    weights = adversary.weigh(threads)
    orders = range(seeds) if adversary.ties == "shuffled" else [None]
    runs = [_score(threads, weights, seed, empty) for seed in orders]
    rows = tuple(thread.thread_id for thread, row in zip(threads, weights, strict=True) if len(set(row)) > 1)
    effects = {name: _effect(name, runs) for name in MEASURES}
    return AdversaryResult(
        adversary.name, adversary.route, adversary.reads, adversary.exploits, adversary.ties, effects, rows
    )


def _score(threads: Sequence[Thread], weights: Weights, seed: int | None, empty: Empty) -> Scores:
    hits = hits_from_strings(
        rankings(threads, weights, seed),
        [thread.ground_truth for thread in threads],
        [thread.candidates for thread in threads],
    )
    table = thread_table(hits, CUTOFF)
    dialogues = [label for thread in threads for column, label in thread.columns if column == DIALOGUE]
    # Turns of one dialogue share their goal, so a standard error counts dialogues.
    units = dialogue_table(table, dialogues, empty) if dialogues else table
    return summarise(units, empty=empty, confidence=None)


def _effect(name: str, runs: Sequence[Scores]) -> EffectSize:
    means = [run.values[name] or 0.0 for run in runs]
    expected = (runs[0].chance or {}).get(name) or 0.0
    errors = [(run.se or {}).get(name, 0.0) for run in runs]
    z = [(value - expected) / error for value, error in zip(means, errors, strict=True) if error > 0]
    return EffectSize(
        mean=mean(means),
        sd=stdev(means) if len(means) > 1 else None,
        chance=expected,
        z=mean(z) if z else None,
    )
