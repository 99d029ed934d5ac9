"""Do the tests and intervals of `musicrs_metric.compare` keep their promises? Simulated systems, known truth.

    python -m benchmarks.simulations [REPETITIONS]

Every repetition draws 477 threads from those of the published file (their pool sizes and numbers of relevant items)
and ranks them with systems whose expected scores are known in closed form. What is counted:

    false positives  a difference is reported between systems that do not differ: alpha of the time
    family           any of all pairs is reported, after Holm's correction: at most alpha
    coverage         an interval holds the true value: 1 - alpha of the time
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from musicrs_metric.chance import chance
from musicrs_metric.compare.pairs import all_pairs, compare_pairs, take_sample
from musicrs_metric.hits import Hits
from musicrs_metric.intervals import RESAMPLES, mean_intervals
from musicrs_metric.measures import measure

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

METRICS = ("recall@20", "ndcg@20", "mrr")
N_THREADS = 477
N_SYSTEMS = 5
ALPHA = 0.05
_AT_ONCE = 100

# (pool size, relevant items): how many threads of the published file have them.
THREADS = {
    (55, 2): 1, (55, 3): 1, (55, 6): 1, (55, 8): 1, (55, 9): 1, (55, 10): 2,
    (90, 0): 5, (91, 1): 20, (92, 2): 18, (93, 3): 22, (94, 4): 21, (95, 5): 20, (96, 6): 16, (97, 7): 19,
    (98, 8): 17, (99, 9): 10, (100, 10): 302,
}  # fmt: skip


class Population(NamedTuple):
    """Threads to draw from: pool sizes and numbers of relevant items, each of shape (n,)."""

    size: Ints
    relevant: Ints


def published_threads() -> Population:
    """The threads of the published file."""
    size, relevant = np.repeat(np.array(list(THREADS)), list(THREADS.values()), axis=0).T
    return Population(size, relevant)


def random_hits(rng: np.random.Generator, size: Ints, relevant: Ints) -> Ints:
    """Ranks of the relevant items in uniformly random rankings (Floyd's draw without replacement).

    Args:
        rng: The generator.
        size: Shape (m,): candidates.
        relevant: Shape (m,): relevant ones among them.

    Returns:
        Shape (m, max(relevant)), from 1; 0 where a thread has fewer relevant items.
    """
    ranks = np.zeros((len(size), int(relevant.max(initial=0))), dtype=np.int64)
    for i in range(ranks.shape[1]):
        last = size - relevant + i + 1
        drawn = (rng.random(len(size)) * last).astype(np.int64) + 1
        taken = (ranks[:, :i] == drawn[:, None]).any(axis=1)
        ranks[:, i] = np.where(i < relevant, np.where(taken, last, drawn), 0)
    return ranks


def random_rankings(rng: np.random.Generator, threads: Population) -> Floats:
    """Scores of uniformly random rankings: shape (threads, metrics)."""
    ranks = np.sort(random_hits(rng, threads.size, threads.relevant), axis=1)
    thread, place = np.nonzero(ranks)
    found = measure(_hits(threads, thread, ranks[thread, place]), (20,))
    return np.stack([found[metric] for metric in METRICS], axis=1)


def expected(threads: Population) -> Floats:
    """Exact expectations of random rankings: shape (threads, metrics)."""
    nowhere = np.zeros(0, dtype=np.int64)
    found = chance(_hits(threads, nowhere, nowhere), (20,))
    if found is None:
        raise ValueError("chance needs pool sizes")
    return np.stack([found[metric] for metric in METRICS], axis=1)


def _hits(threads: Population, thread: Ints, rank: Ints) -> Hits:
    none = np.zeros(len(threads.size), dtype=np.int64)
    return Hits(thread, rank, threads.relevant, threads.relevant, threads.size, none, none, none.astype(bool))


def upper_half(threads: Population) -> Population:
    """The same threads for a system that puts everything relevant into the upper half of its ranking."""
    return Population(threads.size // 2, threads.relevant)


def independent(rng: np.random.Generator, threads: Population) -> list[Floats]:
    """Systems that know nothing."""
    return [random_rankings(rng, threads) for _ in range(N_SYSTEMS)]


def correlated(rng: np.random.Generator, threads: Population) -> list[Floats]:
    """Systems of one skill that find the same half of the threads easy and give one common answer to half of them."""
    easy = rng.random((len(threads.size), 1)) < 0.5

    def one() -> Floats:
        return np.where(easy, random_rankings(rng, upper_half(threads)), random_rankings(rng, threads))

    shared = one()
    return [np.where(rng.random(easy.shape) < 0.5, shared, one()) for _ in range(N_SYSTEMS)]


def unequal(rng: np.random.Generator, threads: Population) -> list[Floats]:
    """One system that finds half of the threads easy, and others that know nothing."""
    easy = rng.random((len(threads.size), 1)) < 0.5
    skilled = np.where(easy, random_rankings(rng, upper_half(threads)), random_rankings(rng, threads))
    return [skilled, *(random_rankings(rng, threads) for _ in range(N_SYSTEMS - 1))]


SCENARIOS: dict[str, Callable[[np.random.Generator, Population], list[Floats]]] = {
    "independent": independent,
    "correlated": correlated,
    "unequal": unequal,
}


def simulate(scenario: str, *, repetitions: int, resamples: int = RESAMPLES, seed: int = 0) -> dict[str, Floats]:
    """Repeat a comparison of five systems whose truth is known.

    Args:
        scenario: One of `SCENARIOS`.
        repetitions: How often.
        resamples: Bootstrap resamples and sign flips of each comparison.
        seed: Of the threads and rankings.

    Returns:
        What was counted to the share of repetitions, shape (metrics,).
    """
    rng = np.random.default_rng(seed)
    published = published_threads()
    chance_level, half_level = expected(published).mean(axis=0), expected(upper_half(published)).mean(axis=0)
    skilled_level = (chance_level + half_level) / 2
    mean = chance_level if scenario == "independent" else skilled_level
    gap = skilled_level - chance_level if scenario == "unequal" else np.zeros(len(METRICS))
    counts: dict[str, Floats] = {}
    for done in range(0, repetitions, _AT_ONCE):
        n = min(_AT_ONCE, repetitions - done)
        drawn = rng.integers(0, N_THREADS, size=n * N_THREADS)
        threads = Population(*(column[drawn] for column in published))
        columns = np.stack([*SCENARIOS[scenario](rng, threads), expected(threads)], axis=2)
        # To (threads, repetitions and metrics, systems): the library sees each repetition as one more metric.
        values = columns.reshape(n, N_THREADS, len(METRICS), -1).swapaxes(0, 1).reshape(N_THREADS, n * len(METRICS), -1)
        for name, found in _judge(values, np.tile(mean, n), np.tile(gap, n), resamples).items():
            counts[name] = counts.get(name, 0) + found.reshape(n, -1).sum(axis=0)
    null = scenario != "unequal"
    return {
        name: count / repetitions
        for name, count in counts.items()
        if (null or "coverage" in name) and (scenario == "independent" or "chance" not in name)
    }


def _judge(values: Floats, mean: Floats, gap: Floats, resamples: int) -> dict[str, npt.NDArray[np.bool_]]:
    """The library's result for each comparison of the second axis: shape (comparisons,) each."""
    sample = take_sample(values, resamples=resamples, seed=0)
    a, b = all_pairs(N_SYSTEMS)
    first, last = np.array([0]), np.array([N_SYSTEMS])
    pairs = [compare_pairs(a, b, sample.column(j)) for j in range(len(mean))]
    against_chance = [compare_pairs(first, last, sample.column(j)).p_t[0] for j in range(len(mean))]
    interval = mean_intervals(np.ascontiguousarray(values[:, :, 0]), resamples=resamples)
    if interval is None:
        raise ValueError("too few threads for an interval")
    low, high = np.array([(found.low[0], found.high[0]) for found in pairs]).T
    return {
        "false positives, paired t": np.array([found.p_t[0] <= ALPHA for found in pairs]),
        "false positives, sign flips": np.array([found.p_flip[0] <= ALPHA for found in pairs]),
        "false positives, against chance": np.array(against_chance) <= ALPHA,
        "family of 10 pairs, paired t, Holm": np.array([found.p_t_holm.min() <= ALPHA for found in pairs]),
        "family of 10 pairs, sign flips, Holm": np.array([found.p_flip_holm.min() <= ALPHA for found in pairs]),
        "coverage, mean of a system": (interval.low <= mean) & (mean <= interval.high),
        "coverage, paired difference": (low <= gap) & (gap <= high),
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Run all scenarios and print what was counted.

    Args:
        argv: The number of repetitions, 2,000 where none is given.
    """
    arguments = sys.argv[1:] if argv is None else argv
    repetitions = int(arguments[0]) if arguments else 2000
    error = 1.96 * sqrt(ALPHA * (1 - ALPHA) / repetitions)
    print(f"{repetitions} repetitions of {N_THREADS} threads; 5 % and 95 % are counted with an error of {error:.2%}")
    for scenario, systems in SCENARIOS.items():
        print(f"\n{scenario}: {' '.join((systems.__doc__ or '').split())}")
        print(f"{'':38}" + "".join(f"{metric:>12}" for metric in METRICS))
        for name, share in simulate(scenario, repetitions=repetitions).items():
            print(f"{name:38}" + "".join(f"{value:12.2%}" for value in share))


if __name__ == "__main__":
    main()
