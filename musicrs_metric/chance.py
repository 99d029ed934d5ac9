"""What a system that knows nothing scores, and what a perfect one can: closed forms, no simulation.

A uniformly random permutation of N candidates with R relevant ones among them puts a relevant item at any rank with
probability R / N. The expectations follow from that and from the hypergeometric distribution; they depend on the size
of the pool and the number of relevant items alone.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np

from .hits import Hits, Ints
from .measures import DEFAULT_K, Floats, discounts, divide, ideal_dcg


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


class _PerPool:
    """Evaluates a function of pool size and number of relevant items once for each pair that occurs."""

    def __init__(self, size: Ints, reachable: Ints) -> None:
        most = int(reachable.max(initial=0)) + 1
        pairs, self._where = np.unique(size * most + reachable, return_inverse=True)
        self._pairs = [divmod(pair, most) for pair in pairs.tolist()]

    def __call__(self, expectation: Callable[[int, int], float]) -> Floats:
        values = np.array([expectation(size, reachable) for size, reachable in self._pairs], dtype=np.float64)
        return values[self._where]
