"""Measures of a ranking: recall, nDCG, MRR, hit rate and precision. Each measure is one class.

A class gives the value of a ranking, the expected value of a ranking that ends in random order, and the possible values
of a random order. Chance, ceiling and the test against chance follow from these (`musicrs_metric.chance`). To add a
measure, write a class and name it in `MEASURES`.

Every value is in [0, 1]. A thread without relevant items scores 0 on every measure. `empty` in `musicrs_metric.scoring`
decides whether a mean includes it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import lcm
from typing import ClassVar

import numpy as np

from .closed_forms import Floats as Floats
from .closed_forms import (
    PoolKind,
    Rest,
    discounts,
    divide,
    expected_reciprocal_rank,
    hit_count_distribution,
    hit_probability,
    ideal_dcg,
)
from .errors import show
from .hits import Hits, Ints

DEFAULT_K = (1, 5, 10, 20)
LARGEST_K = 99_999


@dataclass(frozen=True)
class Counts:
    """Hits of n rankings, counted once for all measures.

    Attributes:
        n_relevant: Shape (n,): relevant items of each thread.
        n_hits: Cutoff to shape (n,): hits in the first k.
        dcg: Cutoff to shape (n,): discounted cumulative gain of the first k.
        first: Shape (n,): 1 / rank of the first hit, 0 without a hit.
    """

    n_relevant: Ints
    n_hits: Mapping[int, Ints]
    dcg: Mapping[int, Floats | Ints]
    first: Floats


@dataclass(frozen=True)
class Measure(ABC):
    """A measure at a cutoff.

    Attributes:
        k: The cutoff; 0 for a measure of the whole list.
    """

    k: int = 0
    label: ClassVar[str]
    at_k: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """Return the name in tables and JSON, such as "recall@20"."""
        return f"{self.label}@{self.k}" if self.at_k else self.label

    @abstractmethod
    def value(self, counts: Counts) -> Floats:
        """Return the value of each ranking, shape (n,)."""

    @abstractmethod
    def expected(self, counts: Counts, rest: Rest) -> Floats:
        """Return the expected value over all orders of the rest, shape (n,).

        Args:
            counts: Hits of the fixed start of each ranking.
            rest: The candidates that follow in random order.
        """

    @abstractmethod
    def random_values(self, pool: PoolKind) -> tuple[Floats, Floats]:
        """Return the values that a random order of a pool can take, and their probabilities.

        Args:
            pool: A pool with at least one relevant candidate.
        """

    def rank_gains(self, pool: PoolKind) -> Floats | None:
        """Return the value that a hit adds at rank 1, 2, ..., for a measure that is the sum of these and nothing else.

        Such a measure takes too many values to list them, so `random_values` is not used for it. None: not such a sum.
        """
        return None

    def denominator(self, n_relevant: Iterable[int]) -> int | None:
        """Return a common denominator of all values on threads with these numbers of relevant items, or None."""
        return None


class Recall(Measure):
    """Relevant items in the first k / relevant items.

    It is not a hit rate, and it is not divided by min(k, relevant items).
    """

    label = "recall"

    def value(self, counts: Counts) -> Floats:
        return divide(counts.n_hits[self.k], counts.n_relevant)

    def expected(self, counts: Counts, rest: Rest) -> Floats:
        return self.value(counts) + divide(rest.share * rest.within(self.k), counts.n_relevant)

    def random_values(self, pool: PoolKind) -> tuple[Floats, Floats]:
        n_hits, probabilities = hit_count_distribution(pool, self.k)
        return n_hits / pool.relevant, probabilities

    def denominator(self, n_relevant: Iterable[int]) -> int | None:
        return lcm(*n_relevant)


class NDCG(Measure):
    """DCG of the first k / DCG of the best possible list, with gain 1 and discount 1 / log2(rank + 1).

    The best possible list has min(relevant items, k) hits. Source: Järvelin and Kekäläinen (2002),
    doi:10.1145/582415.582418.
    """

    label = "ndcg"

    def value(self, counts: Counts) -> Floats:
        return divide(counts.dcg[self.k], ideal_dcg(counts.n_relevant, self.k))

    def expected(self, counts: Counts, rest: Rest) -> Floats:
        gain = rest.share * (rest.gains[rest.start + rest.within(self.k)] - rest.gains[rest.start])
        return self.value(counts) + divide(gain, ideal_dcg(counts.n_relevant, self.k))

    def random_values(self, pool: PoolKind) -> tuple[Floats, Floats]:
        raise NotImplementedError("nDCG takes too many values; it is the sum of its rank_gains")

    def rank_gains(self, pool: PoolKind) -> Floats:
        n_ideal = min(self.k, pool.relevant)
        gains = discounts(max(min(self.k, pool.size), n_ideal))
        shares: Floats = gains[: min(self.k, pool.size)] / gains[:n_ideal].sum()
        return shares

    def denominator(self, n_relevant: Iterable[int]) -> int | None:
        return 1 if self.k == 1 else None


class ReciprocalRank(Measure):
    """1 / rank of the first hit in the whole list. Source: Voorhees (1999)."""

    label = "mrr"
    at_k = False

    def value(self, counts: Counts) -> Floats:
        return counts.first

    def expected(self, counts: Counts, rest: Rest) -> Floats:
        late = rest.per_kind(
            lambda size, n_relevant, start, depth: expected_reciprocal_rank(size, n_relevant, after=start, depth=depth)
        )
        return np.where(counts.first > 0, counts.first, late)

    def random_values(self, pool: PoolKind) -> tuple[Floats, Floats]:
        ranks = np.arange(1, pool.size - pool.reachable + 2)
        hit = pool.reachable / (pool.size - ranks + 1)  # given that no earlier rank has one
        return 1.0 / ranks, hit * np.cumprod(np.concatenate([[1.0], 1 - hit[:-1]]))


class HitRate(Measure):
    """1 if the first k hold a relevant item, else 0."""

    label = "hit"

    def value(self, counts: Counts) -> Floats:
        return (counts.n_hits[self.k] > 0).astype(np.float64)

    def expected(self, counts: Counts, rest: Rest) -> Floats:
        k = self.k
        late = rest.per_kind(
            lambda size, n_relevant, start, depth: hit_probability(size, n_relevant, min(max(k - start, 0), depth))
        )
        return np.maximum(self.value(counts), late)

    def random_values(self, pool: PoolKind) -> tuple[Floats, Floats]:
        n_hits, probabilities = hit_count_distribution(pool, self.k)
        return (n_hits > 0).astype(np.float64), probabilities

    def denominator(self, n_relevant: Iterable[int]) -> int | None:
        return 1


class Precision(Measure):
    """Relevant items in the first k / k, also if the pool or the list is shorter than k."""

    label = "precision"

    def value(self, counts: Counts) -> Floats:
        return counts.n_hits[self.k] / self.k

    def expected(self, counts: Counts, rest: Rest) -> Floats:
        return self.value(counts) + rest.share * rest.within(self.k) / self.k

    def random_values(self, pool: PoolKind) -> tuple[Floats, Floats]:
        n_hits, probabilities = hit_count_distribution(pool, self.k)
        return n_hits / self.k, probabilities

    def denominator(self, n_relevant: Iterable[int]) -> int | None:
        return self.k


MEASURES: tuple[type[Measure], ...] = (Recall, NDCG, ReciprocalRank, HitRate, Precision)
"""All measures, in the order of every table of this project."""


def measures_at(k: Iterable[int]) -> list[Measure]:
    """Return all measures at the cutoffs `k`, in the order of every table."""
    cutoffs = tuple(k)
    return [kind(cutoff) for kind in MEASURES for cutoff in (cutoffs if kind.at_k else (0,))]


def measure_names(k: Iterable[int]) -> list[str]:
    """Return the names of `measures_at`."""
    return [measure.name for measure in measures_at(k)]


def named_measure(name: str) -> Measure:
    """Return the measure of a name such as "recall@20" or "mrr".

    Raises:
        ValueError: No measure has that name, or its cutoff is not a number from 1 to `LARGEST_K`.
    """
    label, _, cutoff = name.partition("@")
    for kind in MEASURES:
        if kind.label == label and not kind.at_k and name == label:
            return kind()
        if kind.label == label and kind.at_k and cutoff.isascii() and cutoff.isdigit():
            measure = kind(int(cutoff)) if len(cutoff) <= len(str(LARGEST_K)) else None
            if measure is not None and measure.k and measure.name == name:
                return measure
    kinds = ", ".join(f"{kind.label}@K" if kind.at_k else kind.label for kind in MEASURES)
    raise ValueError(f"unknown metric {show(name)}; expected one of {kinds}, with K from 1 to {LARGEST_K}")


def check_cutoffs(k: int | Iterable[int]) -> tuple[int, ...]:
    """Return the cutoffs as a sorted tuple of distinct integers from 1 to `LARGEST_K`.

    Args:
        k: One cutoff or several.

    Raises:
        ValueError: A cutoff is not such an integer, or there is none.
    """
    cutoffs = list(k) if isinstance(k, Iterable) else [k]
    for cutoff in cutoffs:
        if isinstance(cutoff, bool) or not isinstance(cutoff, int | np.integer) or cutoff < 1:
            raise ValueError(f"k must be positive integers, found {cutoff!r}")
        if cutoff > LARGEST_K:
            raise ValueError(f"k must be at most {LARGEST_K}, found {show(int(cutoff))}")
    if not cutoffs:
        raise ValueError("k must name at least one cutoff, found none")
    return tuple(sorted({int(cutoff) for cutoff in cutoffs}))


def count_hits(hits: Hits, k: Iterable[int]) -> Counts:
    """Count the hits of judged rankings at the cutoffs `k`."""
    n = len(hits)
    n_hits: dict[int, Ints] = {}
    dcg: dict[int, Floats | Ints] = {}
    thread, rank = hits.thread, hits.rank
    # The very numbers of the ideal list, summed in the same order: a perfect list is exactly 1, and none passes 1.
    discount = discounts(int(rank.max(initial=0)))
    for cutoff in sorted(k, reverse=True):
        in_top = rank <= cutoff
        thread, rank = thread[in_top], rank[in_top]
        n_hits[cutoff] = np.bincount(thread, minlength=n)
        dcg[cutoff] = np.bincount(thread, weights=discount[rank - 1], minlength=n)
    first: Floats = np.zeros(n)
    positions = np.flatnonzero(np.diff(hits.thread, prepend=-1))
    first[hits.thread[positions]] = 1.0 / hits.rank[positions]
    return Counts(hits.n_relevant, n_hits, dcg, first)


def measure(hits: Hits, k: tuple[int, ...] = DEFAULT_K) -> dict[str, Floats]:
    """Compute every measure for every thread.

    Args:
        hits: Judged rankings of n threads.
        k: Cutoffs, as `check_cutoffs` returns them.

    Returns:
        Measure name to an array of shape (n,) with values in [0, 1]; 0 for a thread with no relevant item.
    """
    counts = count_hits(hits, k)
    return {measure.name: measure.value(counts) for measure in measures_at(k)}
