"""Do verdicts and intervals hold for few threads? Random rankings of the published pools, whose truth is known.

    python -m benchmarks.few_threads [REPETITIONS]

Every repetition ranks n threads at random. What is counted:

    above, below    the verdict of a random ranking is not "at chance": at most 2.5 % of the time each
    coverage        an interval of n threads, drawn from the published ones, holds the mean of all: 95 % of the time
    width           mean width of these intervals, with that of Student's t for the same values

The verdict is about n given threads, so it is counted with threads drawn once. Coverage is about other threads, so
threads are drawn anew for every repetition.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np

from musicrs_metric.chance import chance, verdict
from musicrs_metric.compare.significance import student_quantile
from musicrs_metric.hits import Hits
from musicrs_metric.intervals import RESAMPLES, mean_intervals
from musicrs_metric.measures import measure
from musicrs_metric.random_orders import kinds_of

from .simulations import Floats, Ints, Population, published_threads, random_hits

SIZES = (6, 7, 18, 28, 36, 49, 97, 477)
MEASURES = ("recall@1", "recall@20", "ndcg@20", "mrr", "hit@1")
_CUTOFFS = (1, 20)
# Columns of one call: repetitions share their resamples, as the columns of one system do.
_AT_ONCE = 100


class Counted(NamedTuple):
    """Counts for one number of threads; every array has shape (measures,).

    Attributes:
        above: Share of random rankings that are called above chance.
        below: The same for below chance.
        coverage: Share of intervals that hold the mean of all threads.
        width: Mean width of the intervals.
        student: Mean width of Student's intervals of the same values.
        student_coverage: Share of these that hold the mean of all threads.
    """

    above: Floats
    below: Floats
    coverage: Floats
    width: Floats
    student: Floats
    student_coverage: Floats


def simulate(n: int, *, repetitions: int, resamples: int = RESAMPLES, seed: int = 0) -> Counted:
    """Judge random rankings of n threads.

    Args:
        n: Number of threads.
        repetitions: How often.
        resamples: Resamples of the intervals.
        seed: Seed of threads and rankings.

    Returns:
        What was counted.
    """
    rng = np.random.default_rng([seed, n])
    above, below = verdicts(rng, n, repetitions)
    return Counted(above, below, *_intervals(rng, n, repetitions, resamples))


def verdicts(rng: np.random.Generator, n: int, repetitions: int) -> tuple[Floats, Floats]:
    """Share of random rankings of n threads that are called above and below chance, shape (measures,) each."""
    threads = _drawn(rng, n)
    pools = kinds_of(
        zip(*(column.tolist() for column in (threads.size, threads.relevant, threads.relevant)), strict=True)
    )
    means = _random(rng, threads, repetitions).mean(axis=1)
    found = np.array([[verdict(name, mean, pools) for name, mean in zip(MEASURES, row, strict=True)] for row in means])
    return (found == "above").mean(axis=0), (found == "below").mean(axis=0)


def _intervals(rng: np.random.Generator, n: int, repetitions: int, resamples: int) -> tuple[Floats, ...]:
    truth = _levels(published_threads())
    held, width, student, student_held = (np.zeros(len(MEASURES)) for _ in range(4))
    for done in range(0, repetitions, _AT_ONCE):
        times = min(_AT_ONCE, repetitions - done)
        values = _random(rng, _drawn(rng, n * times), 1).reshape(times, n, len(MEASURES)).swapaxes(0, 1)
        found = mean_intervals(values.reshape(n, -1), resamples=resamples, seed=done)
        if found is None:
            raise ValueError(f"{n} threads have no interval")
        low, high = found.low.reshape(times, -1), found.high.reshape(times, -1)
        held += ((low <= truth) & (truth <= high)).sum(axis=0)
        width += (high - low).sum(axis=0)
        reach = student_quantile(0.975, n - 1) * values.std(axis=0, ddof=1) / sqrt(n)
        student += 2 * reach.sum(axis=0)
        student_held += (np.abs(values.mean(axis=0) - truth) <= reach).sum(axis=0)
    return tuple(total / repetitions for total in (held, width, student, student_held))


def _drawn(rng: np.random.Generator, n: int) -> Population:
    published = published_threads()
    chosen = rng.integers(0, len(published.size), size=n)
    return Population(published.size[chosen], published.relevant[chosen])


def _random(rng: np.random.Generator, threads: Population, times: int) -> Floats:
    """Scores of random rankings of the same threads: shape (times, threads, measures)."""
    n = len(threads.size)
    many = Population(np.tile(threads.size, times), np.tile(threads.relevant, times))
    ranks = np.sort(random_hits(rng, many.size, many.relevant), axis=1)
    thread, place = np.nonzero(ranks)
    found = measure(_hits(many, thread, ranks[thread, place]), _CUTOFFS)
    return np.stack([found[name].reshape(times, n) for name in MEASURES], axis=2)


def _levels(threads: Population) -> Floats:
    nowhere = np.zeros(0, dtype=np.int64)
    found = chance(_hits(threads, nowhere, nowhere), _CUTOFFS)
    if found is None:
        raise ValueError("chance needs pool sizes")
    return np.array([found[name].mean() for name in MEASURES])


def _hits(threads: Population, thread: Ints, rank: Ints) -> Hits:
    none = np.zeros(len(threads.size), dtype=np.int64)
    return Hits(thread, rank, threads.relevant, threads.relevant, threads.size, none, none, none.astype(bool))


def main(argv: Sequence[str] | None = None) -> None:
    """Count for every number of threads and print the shares, in percent.

    Args:
        argv: The number of repetitions, 2,000 where none is given.
    """
    arguments = sys.argv[1:] if argv is None else argv
    repetitions = int(arguments[0]) if arguments else 2000
    error = 3 * sqrt(0.025 * 0.975 / repetitions)
    print(f"{repetitions} repetitions; 2.5 % is counted with an error of {error:.1%} (three standard errors)")
    print(f"{'n':>4} {'':16}" + "".join(f"{name:>11}" for name in MEASURES))
    for n in SIZES:
        counted = simulate(n, repetitions=repetitions)
        for name, shares in counted._asdict().items():
            print(f"{n:4} {name:16}" + "".join(f"{share:11.2%}" for share in shares), flush=True)


if __name__ == "__main__":
    main()
