"""Scores of a system that knows nothing and of a perfect one, and the verdict of a score against chance.

A uniformly random permutation of N candidates with R relevant ones among them puts a relevant item at any rank with
probability R / N. The expectations follow from that and from the hypergeometric distribution; they depend on the size
of the pool and the number of relevant items alone.

The verdict follows one rule wherever it is shown. The null distribution is that of a random order of each pool
(`musicrs_metric.random_orders`). A score is above chance if random orders reach it with a probability of at most 2.5 %,
and below chance if they stay at or under it with a probability of at most 2.5 %: a test with a two-sided level of 5 %,
for one system and one measure, without correction for several systems. It holds for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from .hits import Hits, Ints
from .measures import DEFAULT_K, Floats, discounts, divide, ideal_dcg
from .random_orders import Pools, kinds_of, null_distribution

Verdict = Literal["above", "at", "below"]
VERDICT_LEVEL = 0.05
_ROUNDING = 1e-9
VERDICT_RULE = (
    "above or below chance: random orders of the pools score as high, or as low, with a probability of at most 2.5 % "
    "(exact null distribution, two-sided level 5 %, not corrected for several systems)"
)


def chance(hits: Hits, k: tuple[int, ...] = DEFAULT_K) -> dict[str, Floats] | None:
    """Expected value of every measure under a uniformly random ranking of each thread's whole pool.

    Args:
        hits: Threads with their pool sizes and numbers of relevant items; the rankings play no part.
        k: Cutoffs.

    Returns:
        Measure name to an array of shape (n,), exact to rounding; 0 for a thread with no relevant item; None where no
        pools are known, since chance is then undefined.
    """
    if hits.pool_size is None:
        return None
    size, reachable = hits.pool_size, hits.n_reachable
    share = divide(reachable.astype(np.float64), size)
    gains = np.concatenate([[0.0], np.cumsum(discounts(int(size.max(initial=0))))])
    per_pool = _PerPool(size, reachable)
    values: dict[str, Floats] = {}
    for c in k:
        values[f"recall@{c}"] = divide(share * np.minimum(c, size), hits.n_relevant)
    for c in k:
        values[f"ndcg@{c}"] = divide(share * gains[np.minimum(c, size)], ideal_dcg(hits.n_relevant, c))
    values["mrr"] = per_pool(expected_reciprocal_rank)
    for c in k:
        values[f"hit@{c}"] = per_pool(partial(hit_probability, k=c))
    for c in k:
        values[f"precision@{c}"] = share * np.minimum(c, size) / c
    return values


def ceiling(hits: Hits, k: tuple[int, ...] = DEFAULT_K) -> dict[str, Floats]:
    """The best value that any ranking of the pool can reach.

    Recall@k stays below 1 where a thread has more than k relevant items, or where some of them are not in its pool.

    Args:
        hits: Threads with their numbers of relevant and reachable items.
        k: Cutoffs.

    Returns:
        Measure name to an array of shape (n,); 0 for a thread with no reachable relevant item.
    """
    values: dict[str, Floats] = {}
    found = {c: np.minimum(c, hits.n_reachable).astype(np.float64) for c in k}
    for c in k:
        values[f"recall@{c}"] = divide(found[c], hits.n_relevant)
    for c in k:
        values[f"ndcg@{c}"] = divide(ideal_dcg(hits.n_reachable, c), ideal_dcg(hits.n_relevant, c))
    any_hit = (hits.n_reachable > 0).astype(np.float64)
    values["mrr"] = any_hit
    for c in k:
        values[f"hit@{c}"] = any_hit
    for c in k:
        values[f"precision@{c}"] = found[c] / c
    return values


@lru_cache(maxsize=4096)
def expected_reciprocal_rank(pool_size: int, n_relevant: int, *, after: int = 0, depth: int | None = None) -> float:
    """Expected 1 / rank of the first of `n_relevant` items in a random order of `pool_size`.

    The first hit stands at place r of that order with probability
    (R / (N - r + 1)) * prod_{i<r} (N - R - i + 1) / (N - i + 1), and its rank is r plus what stands before the order.

    Args:
        pool_size: N, at least 0.
        n_relevant: R, 0 to N.
        after: How many misses stand before the order.
        depth: How many places of the order are ranked at all; None for all.

    Returns:
        The expectation in [0, 1]; 0 where nothing is relevant.
    """
    expectation, no_hit_yet = 0.0, 1.0
    last = pool_size - n_relevant + 1 if n_relevant else 0
    for place in range(1, min(last, last if depth is None else depth) + 1):
        left = pool_size - place + 1
        expectation += no_hit_yet * (n_relevant / left) / (after + place)
        no_hit_yet *= (left - n_relevant) / left
    return expectation


@lru_cache(maxsize=16384)
def hit_probability(pool_size: int, n_relevant: int, k: int) -> float:
    """Probability that the first k of a random order hold a relevant item: 1 - C(N - R, k) / C(N, k), in [0, 1]."""
    if not n_relevant:
        return 0.0
    no_hit = 1.0
    for drawn in range(min(k, pool_size)):
        no_hit *= max(pool_size - n_relevant - drawn, 0) / (pool_size - drawn)
    return 1.0 - no_hit


class ChanceTest(NamedTuple):
    """A mean score against random orders of the pools.

    Attributes:
        p_above: Probability that random orders of the pools reach the score or more.
        p_below: Probability that they reach the score or less.
    """

    p_above: float
    p_below: float

    @property
    def verdict(self) -> Verdict:
        """Which side of chance the score is on, by `VERDICT_RULE`."""
        if self.p_above <= VERDICT_LEVEL / 2 + _ROUNDING:
            return "above"
        return "below" if self.p_below <= VERDICT_LEVEL / 2 + _ROUNDING else "at"

    @property
    def p(self) -> float:
        """Two-sided p value: twice the smaller tail, at most 1."""
        return min(1.0, 2 * min(self.p_above, self.p_below))


def chance_test(measure: str, mean: float | None, pools: Pools | None) -> ChanceTest | None:
    """Test a mean over threads against random orders of their pools.

    Args:
        measure: Such as "recall@20".
        mean: Mean over the threads, in [0, 1].
        pools: The kinds of pools of the same threads, from `pools_of`.

    Returns:
        The test; None where pools are unknown or there is no thread.
    """
    if mean is None or not pools:
        return None
    total = mean * sum(kind.n for kind in pools)
    null = null_distribution(measure, pools)
    return ChanceTest(null.at_least(total), null.at_most(total))


def verdict(measure: str, mean: float | None, pools: Pools | None) -> Verdict | None:
    """Say on which side of chance a mean score is; see `chance_test` for the arguments.

    Returns:
        "above", "at" or "below" by `VERDICT_RULE`; None where pools are unknown or there is no thread.
    """
    test = chance_test(measure, mean, pools)
    return None if test is None else test.verdict


def pools_of(hits: Hits, chosen: npt.NDArray[np.bool_]) -> Pools | None:
    """Count the kinds of pools of some threads.

    Args:
        hits: Judged rankings of n threads.
        chosen: Shape (n,): the threads that count.

    Returns:
        The kinds; None where the pools are unknown.
    """
    if hits.pool_size is None:
        return None
    columns = (hits.pool_size, hits.n_reachable, hits.n_relevant)
    return kinds_of(zip(*(column[chosen].tolist() for column in columns), strict=True))


class _PerPool:
    """Evaluates a function of pool size and number of relevant items once for each pair that occurs."""

    def __init__(self, size: Ints, reachable: Ints) -> None:
        most = int(reachable.max(initial=0)) + 1
        pairs, self._where = np.unique(size * most + reachable, return_inverse=True)
        self._pairs = [divmod(pair, most) for pair in pairs.tolist()]

    def __call__(self, expectation: Callable[[int, int], float]) -> Floats:
        values = np.array([expectation(size, reachable) for size, reachable in self._pairs], dtype=np.float64)
        return values[self._where]
