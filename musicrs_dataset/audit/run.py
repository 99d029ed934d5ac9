"""Run the adversaries on the pools of a dataset, and set each of them against chance."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import mean, stdev

from musicrs_metric.errors import UserError
from musicrs_metric.scoring import Empty, Scores, score

from ..pools.files import fingerprint_of
from ..records import Thread
from .adversary import Adversary, Reads, Route, Ties, Weights, rankings
from .catalogue import ADVERSARIES
from .faults import Collision, Evenness, LeftOver, collisions, evenness, left_overs, shared_entities
from .verdict import Verdict, verdicts

CUTOFF = 20
# Orderings of tied candidates; the mean of 20 strays by a quarter of what one does.
SEEDS = 20
MEASURES = (f"recall@{CUTOFF}", f"ndcg@{CUTOFF}", "mrr")


@dataclass(frozen=True)
class Effect:
    """One adversary's score by one measure.

    Attributes:
        mean: Mean over threads, and over seeds where ties are shuffled; in [0, 1].
        sd: Standard deviation of that mean over seeds; None for one ordering.
        chance: Exact expectation of a random ranking.
        z: (mean - chance) / standard error over threads, averaged over seeds; None where the error is 0 or undefined.
    """

    mean: float
    sd: float | None
    chance: float
    z: float | None


@dataclass(frozen=True)
class Finding:
    """What one adversary gets.

    Attributes:
        name: See `Adversary`, as for the next four.
        route: The route it belongs to.
        reads: What it looks at.
        exploits: What it makes use of.
        ties: How it orders ties.
        effects: Measure to effect.
        rows: Ids of the threads in which it tells candidates apart; elsewhere all its weights are equal.
    """

    name: str
    route: Route
    reads: Reads
    exploits: str
    ties: Ties
    effects: dict[str, Effect]
    rows: tuple[str, ...]


@dataclass(frozen=True)
class Audit:
    """What can be had from the pools of a dataset without music.

    Attributes:
        fingerprint: Of the threads, pools and labels audited.
        n: Threads averaged.
        n_empty: Threads without ground truth, averaged as 0 (`empty="zero"`) or left out (`empty="skip"`).
        empty: Which of the two.
        seeds: How many seeds each shuffled adversary ran with, from 0 on.
        findings: One per adversary.
        left_over: Right answers that count as wrong, by thread.
        collisions: Titles that stand twice in one pool, by thread.
        evenness: Counts and pool sizes by subreddit.
        shared_entities: Candidates that stand in pools of more than one subreddit.
        verdicts: One per route.
    """

    fingerprint: str
    n: int
    n_empty: int
    empty: Empty
    seeds: int
    findings: tuple[Finding, ...]
    left_over: tuple[LeftOver, ...]
    collisions: tuple[Collision, ...]
    evenness: tuple[Evenness, ...]
    shared_entities: int
    verdicts: tuple[Verdict, ...]


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
        threads: Threads with pools, ground truth, entities and, for what reads them, queries.
        adversaries: What to try; see `catalogue` and `meaning.embedding_adversaries`.
        seeds: Orderings that each adversary with shuffled ties is tried in, at least 1.
        empty: Whether threads without ground truth count as "zero" or are "skip"ped.
        track: Wraps the loop over adversaries, e.g. in a progress bar.

    Returns:
        The audit; the same arguments give the same digits.

    Raises:
        UserError: There are no threads, or one has no pool.
    """
    if not threads:
        raise UserError("no threads to audit: found 0, expected at least 1")
    for thread in threads:
        if not thread.candidates:
            raise UserError(f"thread {thread.thread_id} has no pool; draw one with `python -m musicrs_dataset pools`")
    findings = tuple(_try(adversary, threads, seeds, empty) for adversary in track(adversaries))
    over, twice = left_overs(threads), collisions(threads)
    n_empty = sum(not thread.ground_truth for thread in threads)
    return Audit(
        fingerprint=fingerprint_of(threads),
        n=len(threads) - (n_empty if empty == "skip" else 0),
        n_empty=n_empty,
        empty=empty,
        seeds=seeds,
        findings=findings,
        left_over=over,
        collisions=twice,
        evenness=evenness(threads),
        shared_entities=shared_entities(threads),
        verdicts=verdicts(findings, over, twice),
    )


def _try(adversary: Adversary, threads: Sequence[Thread], seeds: int, empty: Empty) -> Finding:
    weights = adversary.weigh(threads)
    orders = range(seeds) if adversary.ties == "shuffled" else [None]
    runs = [_score(threads, weights, seed, empty) for seed in orders]
    rows = tuple(thread.thread_id for thread, row in zip(threads, weights, strict=True) if len(set(row)) > 1)
    effects = {name: _effect(name, runs) for name in MEASURES}
    return Finding(adversary.name, adversary.route, adversary.reads, adversary.exploits, adversary.ties, effects, rows)


def _score(threads: Sequence[Thread], weights: Weights, seed: int | None, empty: Empty) -> Scores:
    return score(
        rankings(threads, weights, seed),
        [thread.ground_truth for thread in threads],
        [thread.candidates for thread in threads],
        k=CUTOFF, empty=empty, confidence=None,
    )  # fmt: skip


def _effect(name: str, runs: Sequence[Scores]) -> Effect:
    means = [run.values[name] or 0.0 for run in runs]
    expected = (runs[0].chance or {}).get(name) or 0.0
    errors = [(run.se or {}).get(name, 0.0) for run in runs]
    z = [(value - expected) / error for value, error in zip(means, errors, strict=True) if error > 0]
    return Effect(
        mean=mean(means),
        sd=stdev(means) if len(means) > 1 else None,
        chance=expected,
        z=mean(z) if z else None,
    )
