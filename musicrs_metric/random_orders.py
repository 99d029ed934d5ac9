"""Distribution of a mean score over threads whose pools are in random order: what chance reaches, and how often.

The score of a thread takes few values, with probabilities that follow from the size of its pool and the number of its
relevant items. Threads are independent, so the distribution of their sum is a convolution. It is computed on a grid by
the discrete Fourier transform, once per kind of pool.

Recall, precision and hit rate take rational values. Their grid holds these values, and the result is exact to rounding.
nDCG and MRR take too many values. Each value is split between its two neighbours on a fine grid, which keeps the mean.
A tail then includes every value that the splitting could have moved, so that no value at its edge is lost.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, log, sqrt
from typing import NamedTuple

import numpy as np

from .closed_forms import Floats, PoolKind
from .hits import Ints
from .measures import Measure

# Points of the grid for values that have no common denominator, and the most for values that have one.
_POINTS = 2**16
_MOST_POINTS = 2**18
# Probability of the sums that the grid leaves out.
_LEFT_OUT = 1e-7


Pools = tuple[PoolKind, ...]
"""The kinds of pools of a set of threads, sorted, each with its number of threads."""


@dataclass(frozen=True)
class NullDistribution:
    """Distribution of the sum of one measure over threads with pools in random order.

    Attributes:
        start: Sum at the first point of the grid.
        step: Distance of two points.
        slack: How far the splitting may have moved a sum.
        cumulative: Shape (points + 1,): probability of the first 0, 1, ... points.
    """

    start: float
    step: float
    slack: float
    cumulative: Floats

    def at_least(self, total: float) -> float:
        """Probability that a random order reaches `total` or more."""
        first = ceil((total - self.slack - self.start) / self.step)
        return float(1.0 - self.cumulative[min(max(first, 0), len(self.cumulative) - 1)])

    def at_most(self, total: float) -> float:
        """Probability that a random order reaches `total` or less."""
        last = -ceil((self.start - total - self.slack) / self.step)
        return float(self.cumulative[min(max(last + 1, 0), len(self.cumulative) - 1)])


@lru_cache(maxsize=256)
def null_distribution(measure: Measure, pools: Pools) -> NullDistribution:
    """Compute the distribution of the sum of a measure over all threads.

    Args:
        measure: The measure.
        pools: The kinds of pools of the threads; at least one thread.

    Returns:
        The distribution.
    """
    moments = [_moments(measure, kind) for kind in pools]
    mean = sum(kind.n * one.mean for kind, one in zip(pools, moments, strict=True))
    variance = sum(kind.n * one.variance for kind, one in zip(pools, moments, strict=True))
    most = sum(kind.n * one.most for kind, one in zip(pools, moments, strict=True))
    # Bernstein's inequality for independent values in [0, 1]: the sum is further from its mean with _LEFT_OUT.
    nats = log(2 / _LEFT_OUT)
    reach = nats / 3 + sqrt((nats / 3) ** 2 + 2 * nats * variance)
    low, high = max(0.0, mean - reach), min(most, mean + reach)
    parts = sum(kind.n * one.parts for kind, one in zip(pools, moments, strict=True))
    most_parts = sum(kind.n * one.most_parts for kind, one in zip(pools, moments, strict=True))
    step, slack = _grid(measure, pools, high - low, parts, most_parts)
    margin = ceil(slack / step) + 2  # the splitting moves sums beyond the least and the greatest one
    first = max(0, int(low / step) - margin)
    points = int((high - low) / step) + 2 * margin
    length = 1 << max(points - 1, 1).bit_length()
    spectrum = np.ones(length // 2 + 1, dtype=np.complex128)
    for kind in pools:
        alone = _on_grid(measure, kind, step)
        # A thread alone may reach beyond the window; sums are known modulo its length.
        folded = np.bincount(np.arange(len(alone)) % length, weights=alone, minlength=length)
        spectrum *= np.fft.rfft(folded) ** kind.n
    density = np.roll(np.fft.irfft(spectrum, length), -(first % length))
    cumulative = np.concatenate([[0.0], np.cumsum(np.maximum(density, 0.0))])
    return NullDistribution(first * step, step, slack, cumulative / cumulative[-1])


def kinds_of(threads: Iterable[tuple[int, int, int]]) -> Pools:
    """Count the kinds of pools.

    Args:
        threads: Of each thread the size of its pool, the relevant candidates in it, and all relevant items.
    """
    counts: dict[tuple[int, int, int], int] = defaultdict(int)
    for thread in threads:
        counts[thread] += 1
    return tuple(PoolKind(*thread, n) for thread, n in sorted(counts.items()))


class _Moments(NamedTuple):
    """Mean, variance and greatest value of one thread; expected and greatest number of parts put on the grid."""

    mean: float
    variance: float
    most: float
    parts: float
    most_parts: int


def _moments(measure: Measure, kind: PoolKind) -> _Moments:
    if not kind.reachable:
        return _Moments(0.0, 0.0, 0.0, 0.0, 1)
    gains = measure.rank_gains(kind)
    if gains is not None:
        n, share = kind.size, kind.reachable / kind.size
        # Drawing without replacement: the covariance of two ranks is that of a finite population.
        spread = share * (1 - share) * n / max(n - 1, 1)
        variance = spread * float((gains**2).sum() - gains.sum() ** 2 / n)
        most = float(gains[: kind.reachable].sum())
        most_parts = min(kind.reachable, len(gains))
        return _Moments(share * float(gains.sum()), max(variance, 0.0), most, share * len(gains), most_parts)
    values, probabilities = measure.random_values(kind)
    mean = float(values @ probabilities)
    return _Moments(mean, max(float(values**2 @ probabilities) - mean**2, 0.0), float(values.max()), 1.0, 1)


def _grid(measure: Measure, pools: Pools, width: float, parts: float, most_parts: int) -> tuple[float, float]:
    """Return the step of the grid, and the greatest distance by which its splitting moves a sum."""
    shares = measure.denominator(kind.relevant for kind in pools if kind.relevant)
    if shares is not None and width * shares + 6 <= _MOST_POINTS:
        return 1 / shares, 1e-3 / shares
    step = max(width, 1e-3) / (0.99 * _POINTS)
    # Each part moves by less than a step, with mean 0. By Hoeffding's inequality many of them rarely add up to more.
    return step, step * (1 + min(most_parts, 3 * sqrt(parts + 1)))


def _on_grid(measure: Measure, kind: PoolKind, step: float) -> Floats:
    """Return the distribution of one thread, each value split between the two nearest points."""
    if not kind.reachable:
        return np.ones(1)
    gains = measure.rank_gains(kind)
    if gains is not None:
        return _gains_on_grid(gains, kind, step)
    values, probabilities = measure.random_values(kind)
    place, share = _split(values / step)
    length = int(place.max()) + 2
    points: Floats = np.zeros(length)
    np.add.at(points, place, probabilities * (1 - share))
    np.add.at(points, place + 1, probabilities * share)
    return points


def _split(places: Floats) -> tuple[Ints, Floats]:
    """The point below each place, and the share that goes to the one above."""
    nearest = np.rint(places)
    # A value that is on the grid stays there, whatever the last digits of the division say.
    places = np.where(np.abs(places - nearest) < 1e-6, nearest, places)
    below = np.floor(places)
    return below.astype(np.int64), places - below


def _gains_on_grid(gains: Floats, kind: PoolKind, step: float) -> Floats:
    """Go down the ranks, with a distribution of the gain for each number of hits so far."""
    most = min(kind.reachable, len(gains))
    places, shares = _split(gains / step)
    largest = np.sort(places)[::-1]
    # As far as the gains of all hits but one reach, and of all: places round down, so each hit may add a point.
    before, length = int(largest[: most - 1].sum()) + most, int(largest[:most].sum()) + most + 2
    states, seen = np.zeros((most + 1, length)), 1
    states[0, 0] = 1.0
    for rank, (place, share) in enumerate(zip(places.tolist(), shares.tolist(), strict=True)):
        chance = ((kind.reachable - np.arange(most + 1)) / (kind.size - rank))[:, None]
        hit = states[:most, :seen] * chance[:most]
        states *= 1 - chance
        states[1:, place : place + seen] += (1 - share) * hit
        states[1:, place + 1 : place + seen + 1] += share * hit
        seen = min(seen + place + 1, before)
    total: Floats = states.sum(axis=0)
    return total
