"""Closed forms that the measures share: discounts, ideal lists, and expectations over random orders of a pool.

A uniformly random order of N candidates with R relevant ones has a relevant one at any rank with probability R / N. The
number of hits in the first k follows the hypergeometric distribution.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from math import comb
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .hits import Ints

Floats = npt.NDArray[np.float64]


class PoolKind(NamedTuple):
    """Threads that are alike under a random order.

    Attributes:
        size: Distinct candidates.
        reachable: Relevant candidates in the pool.
        relevant: Relevant items, in the pool or not.
        n: Number of such threads.
    """

    size: int
    reachable: int
    relevant: int
    n: int


@dataclass(frozen=True)
class Rest:
    """Candidates in uniformly random order after the fixed start of n rankings. Every array has shape (n,).

    Attributes:
        start: Ranks that the fixed part takes.
        depth: Candidates that follow.
        size: Candidates of which these are drawn.
        n_relevant: Relevant ones among `size`.
    """

    start: Ints
    depth: Ints
    size: Ints
    n_relevant: Ints
    _within: dict[int, Ints] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def share(self) -> Floats:
        """Shape (n,): probability that a candidate of the rest is relevant."""
        return divide(self.n_relevant.astype(np.float64), self.size)

    @cached_property
    def gains(self) -> Floats:
        """Sum of the discounts of the first 0, 1, ... ranks."""
        return summed_discounts(int((self.start + self.depth).max(initial=0)))

    def within(self, k: int) -> Ints:
        """Shape (n,): ranks of the rest that are among the first k of the ranking."""
        if k not in self._within:
            self._within[k] = np.minimum(np.maximum(k - self.start, 0), self.depth)
        return self._within[k]

    def per_kind(self, expectation: Callable[[int, int, int, int], float]) -> Floats:
        """Evaluate a function of size, n_relevant, start and depth once per combination that occurs; shape (n,)."""
        kinds, position = self._kinds
        values = np.array([expectation(*kind) for kind in kinds], dtype=np.float64)
        return values[position]

    @cached_property
    def _kinds(self) -> tuple[list[tuple[int, ...]], Ints]:
        columns = (self.size, self.n_relevant, self.start, self.depth)
        lengths = [int(column.max(initial=0)) + 1 for column in columns]
        try:
            keys, position = np.unique(np.ravel_multi_index(columns, lengths), return_inverse=True)
        except ValueError:  # numbers so large that their combinations have no key in 64 bits
            return list(zip(*(column.tolist() for column in columns), strict=True)), np.arange(len(self.size))
        kinds = zip(*(column.tolist() for column in np.unravel_index(keys, lengths)), strict=True)
        return list(kinds), position


def discounts(depth: int) -> Floats:
    """Return the discount of ranks 1 to `depth`: 1 / log2(rank + 1); shape (depth,)."""
    return 1.0 / np.log2(np.arange(2, depth + 2, dtype=np.float64))


@lru_cache(maxsize=64)
def summed_discounts(depth: int) -> Floats:
    """Return the sums of the discounts of the first 0, 1, ..., `depth` ranks; shape (depth + 1,), read-only."""
    sums = np.concatenate([[0.0], np.cumsum(discounts(depth))])
    sums.setflags(write=False)
    return sums


def ideal_dcg(n_relevant: Ints, k: int) -> Floats:
    """Return the DCG of the best possible list, min(n_relevant, k) hits from rank 1; same shape as `n_relevant`."""
    hits = np.minimum(n_relevant, k)
    return summed_discounts(int(hits.max(initial=0)))[hits]


def divide(numerator: Floats | Ints, denominator: Floats | Ints) -> Floats:
    """Divide, with 0 where the denominator is 0 (a thread with no relevant item)."""
    return np.divide(numerator, denominator, out=np.zeros(len(numerator)), where=denominator != 0)


def hit_count_distribution(pool: PoolKind, k: int) -> tuple[Ints, Floats]:
    """Return the numbers of hits in the first k of a random order, and their (hypergeometric) probabilities."""
    depth = min(k, pool.size)
    others = pool.size - pool.reachable
    n_hits = np.arange(max(0, depth - others), min(pool.reachable, depth) + 1)
    ways = comb(pool.size, depth)
    probabilities = [comb(pool.reachable, h) * comb(others, depth - h) / ways for h in n_hits.tolist()]
    return n_hits, np.array(probabilities)


@lru_cache(maxsize=4096)
def expected_reciprocal_rank(pool_size: int, n_relevant: int, *, after: int = 0, depth: int | None = None) -> float:
    """Return the expected 1 / rank of the first of `n_relevant` items in a random order of `pool_size`.

    The first hit is at position r of that order with probability
    (R / (N - r + 1)) * prod_{i<r} (N - R - i + 1) / (N - i + 1). Its rank is r plus the number of ranks before it.

    Args:
        pool_size: N, at least 0.
        n_relevant: R, 0 to N.
        after: Number of misses before the order.
        depth: Number of positions of the order that are ranked; None for all.

    Returns:
        The expectation in [0, 1]; 0 if nothing is relevant.
    """
    expectation, no_hit_yet = 0.0, 1.0
    last = pool_size - n_relevant + 1 if n_relevant else 0
    for position in range(1, min(last, last if depth is None else depth) + 1):
        left = pool_size - position + 1
        expectation += no_hit_yet * (n_relevant / left) / (after + position)
        no_hit_yet *= (left - n_relevant) / left
    return expectation


@lru_cache(maxsize=16384)
def hit_probability(pool_size: int, n_relevant: int, k: int) -> float:
    """Return the probability of a relevant item in the first k of a random order: 1 - C(N - R, k) / C(N, k)."""
    if not n_relevant:
        return 0.0
    no_hit = 1.0
    for drawn in range(min(k, pool_size)):
        no_hit *= max(pool_size - n_relevant - drawn, 0) / (pool_size - drawn)
    return 1.0 - no_hit
