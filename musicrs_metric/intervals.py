"""Standard errors and intervals of means over threads. The number of threads decides the method.

- Fewer than 5 threads: no interval. The reason is given instead.
- 5 to 449 threads: Gaffke's bounds. A percentile bootstrap or Student's t of few skewed values is too narrow. Where
  most threads score 0, it misses the mean in up to 60 % of the samples. Gaffke's bounds use the range of the values,
  [0, 1] for a score. Each resample gives random weights to the observed values and to one unseen value. That is the
  lowest possible one for the lower end and the highest possible one for the upper end. For values of 0 and 1 these are
  the bounds of Clopper and Pearson.
- 450 to 1,000 threads: percentile bootstrap. Where the mean is still clearly skewed, as that of recall@1, the end on
  the side of the tail moves out by Johnson's term for skewness, but by at most 0.09 percentage points.
- More than 1,000 threads: the mean plus and minus z standard errors.

Values that are all equal get Gaffke's bounds for any number of threads, because other threads could have other values.

Sources:
Gaffke (2005), Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative variable,
Mathematical Methods of Statistics 14(4). Learned-Miller and Thomas (2019, arXiv:1905.06208) find no distribution for
which the coverage is below its nominal value. Johnson (1978), Modified t tests and confidence intervals for
asymmetrical populations, Journal of the American Statistical Association 73(363). Efron and Tibshirani (1993),
chapter 13, for the percentile bootstrap. `python -m benchmarks.few_threads` measures the coverage.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from .errors import count, show
from .measures import Floats

RESAMPLES = 10_000
CONFIDENCE = 0.95
SMALLEST_SAMPLE = 5
# From here on the percentile bootstrap covers at least 93 % for the skewed scores of this benchmark.
BOOTSTRAP_SAMPLE = 450
BOUNDED, BOOTSTRAP, NORMAL = "Gaffke bounds", "percentile bootstrap", "normal"
SCORES, DIFFERENCES = (0.0, 1.0), (-1.0, 1.0)
"""The range of a score, and that of the difference of two scores."""
# Skewness of a mean, the skewness of the values over the root of n, from which on it needs the correction.
_SKEWED, _FURTHEST = 0.12, 9e-4
# Values that are closer than this differ by rounding only.
_ROUNDING = 1e-12
# Beyond this many threads the resampled mean is normal to the digits shown, and drawing n x 10,000 indices is waste.
LARGE_SAMPLE = 1_000
# With the columns of one system, small blocks of draws take half the time: they stay in the processor's cache, and
# their products are too small for BLAS to start threads that wait for each other. Products of many columns are worth
# the threads, in blocks of a size that memory can hold.
_FEW_COLUMNS = 32
_DRAWS_AT_ONCE_FEW, _DRAWS_AT_ONCE_MANY = 15_000, 4_000_000
# Weights depend on the number of threads and the seed only. Drawing them takes most of the time for one system, so the
# last ones are kept: at most 24 times 10 MB. Fewer than the genres of a leaderboard need would never be used again.
_KEPT, _KEPT_BYTES = 24, 10_000_000


class Intervals(NamedTuple):
    """Intervals of the means of m columns.

    Attributes:
        low: Shape (m,).
        high: Shape (m,).
        method: "Gaffke bounds", "percentile bootstrap" or "normal"; see `musicrs_metric.intervals`.
    """

    low: Floats
    high: Floats
    method: str


class Resamples(NamedTuple):
    """Means of resamples of n threads.

    Attributes:
        means: Shape (resamples, ...): weighted sums of the values of the threads.
        unseen: Shape (resamples,): weight of the one value that was not observed; 0 for the percentile bootstrap.
    """

    means: Floats
    unseen: Floats


def method_of(n: int, *, large: bool = True) -> str | None:
    """Return the name of the method for n threads; None if they are too few.

    Args:
        n: Number of threads.
        large: Whether the normal interval is used for more than `LARGE_SAMPLE` threads.
    """
    if n < SMALLEST_SAMPLE:
        return None
    if n < BOOTSTRAP_SAMPLE:
        return BOUNDED
    return NORMAL if large and n > LARGE_SAMPLE else BOOTSTRAP


def why_no_interval(n: int) -> str | None:
    """Return the reason why n threads have no interval; None if they have one."""
    if n >= SMALLEST_SAMPLE:
        return None
    return f"{count(n, 'thread')}, an interval needs at least {SMALLEST_SAMPLE}"


def standard_error(values: Floats) -> Floats | None:
    """Return the standard error of the mean of each column, from the sample standard deviation (ddof = 1).

    Args:
        values: Shape (n, m): one row per thread.

    Returns:
        Shape (m,), or None for n < 2, where it is undefined.
    """
    n = len(values)
    if n < 2:
        return None
    error: Floats = values.std(axis=0, ddof=1) / np.sqrt(n)
    return error


def mean_intervals(
    values: Floats,
    *,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
    seed: int = 0,
    bounds: tuple[float, float] = SCORES,
) -> Intervals | None:
    """Return the interval of the mean of each column over threads drawn at random.

    All columns share their resamples of whole threads. The normal interval is cut at the least and the greatest value.

    Args:
        values: Shape (n, m): one row per thread.
        confidence: Coverage, between 0 and 1.
        resamples: Resamples, at least 1.
        seed: Seed of the generator, 0 or more; the same seed gives the same digits.
        bounds: The lowest and the highest value that a thread can have.

    Returns:
        The intervals, or None for fewer than `SMALLEST_SAMPLE` threads.

    Raises:
        ValueError: `confidence` is outside (0, 1), `resamples` is not a positive integer, or `seed` is a negative
            number or no integer.
    """
    if not isinstance(confidence, float) or not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, found {confidence!r}")
    if not isinstance(resamples, int | np.integer) or resamples < 1:
        raise ValueError(f"resamples must be at least 1, a whole number; found {resamples!r}")
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ValueError(f"seed must be at least 0, a whole number; found {show(seed)}")
    n = len(values)
    method = method_of(n)
    if method is None:
        return None
    if method == NORMAL:
        z = NormalDist().inv_cdf((1 + confidence) / 2)
        reach = z * values.std(axis=0, ddof=1) / np.sqrt(n)
        mean, least, most = values.mean(axis=0), values.min(axis=0), values.max(axis=0)
        ends = np.maximum(mean - reach, least), np.minimum(mean + reach, most)
        return Intervals(*_widen_equal(*ends, values, confidence, bounds), method)
    drawn = resample(values, resamples=resamples, seed=seed)
    return Intervals(*interval_ends(values, drawn, confidence, bounds), method)


def interval_ends(
    values: Floats, drawn: Resamples, confidence: float, bounds: tuple[float, float]
) -> tuple[Floats, Floats]:
    """Return the ends of the interval of the mean of each column, from its resampled means.

    Args:
        values: Shape (n, m): one row per thread.
        drawn: Resamples of the rows.
        confidence: Coverage.
        bounds: The lowest and the highest value that a thread can have.

    Returns:
        Lower and upper ends, each of shape (m,); NaN for fewer than `SMALLEST_SAMPLE` threads.
    """
    if len(values) < SMALLEST_SAMPLE:
        undefined = np.full(values.shape[1], np.nan)
        return undefined, undefined
    tail = (1 - confidence) / 2
    unseen = drawn.unseen[:, None]
    if unseen.any():
        (low,) = column_quantiles(drawn.means + bounds[0] * unseen, tail)
        (high,) = column_quantiles(drawn.means + bounds[1] * unseen, 1 - tail)
    else:
        low, high = column_quantiles(drawn.means, tail, 1 - tail)
        low, high = _extend_to_the_tail(low, high, values, NormalDist().inv_cdf(1 - tail), bounds)
    return _widen_equal(low, high, values, confidence, bounds)


def column_quantiles(values: Floats, *shares: float) -> list[Floats]:
    """Return quantiles of each column, the same digits as `numpy.quantile(values, shares, axis=0)` in half the time.

    Args:
        values: Shape (n, m), n >= 1.
        shares: Each between 0 and 1.

    Returns:
        One array of shape (m,) per share. NaN for a column that holds NaN.
    """
    ordered = np.array(values.T, order="C")
    ordered.sort(axis=1)  # numpy sorts a row with vector instructions, which a selection does not use
    last = ordered.shape[1] - 1
    quantiles = []
    for share in shares:
        place, part = int(share * last), share * last % 1
        below, above = ordered[:, place], ordered[:, min(place + 1, last)]
        step = above - below
        quantile = below + step * part if part < 0.5 else above - step * (1 - part)
        quantiles.append(np.where(np.isnan(ordered[:, last]), np.nan, quantile))
    return quantiles


def _extend_to_the_tail(
    low: Floats, high: Floats, values: Floats, z: float, bounds: tuple[float, float]
) -> tuple[Floats, Floats]:
    """Move one end out if the mean is clearly skewed."""
    n = len(values)
    deviations = values - values.mean(axis=0)
    variance = (deviations**2).mean(axis=0)
    third = (deviations**3).mean(axis=0)
    skewness = np.divide(third, variance**1.5, out=np.zeros(len(variance)), where=variance > _ROUNDING) / np.sqrt(n)
    reach = np.minimum(np.abs(skewness) * (z**2 + 2) / 6 * np.sqrt(variance / n), _FURTHEST)
    lower = np.where(skewness < -_SKEWED, np.maximum(low - reach, bounds[0]), low)
    upper = np.where(skewness > _SKEWED, np.minimum(high + reach, bounds[1]), high)
    return np.minimum(low, lower), np.maximum(high, upper)


def _widen_equal(
    low: Floats, high: Floats, values: Floats, confidence: float, bounds: tuple[float, float]
) -> tuple[Floats, Floats]:
    """Give columns of equal values Gaffke's bounds, which have a closed form for them."""
    first = values[0]
    equal = (np.abs(values - first) <= _ROUNDING).all(axis=0)
    weight = 1 - ((1 - confidence) / 2) ** (1 / len(values))
    lowest, highest = first + weight * (bounds[0] - first), first + weight * (bounds[1] - first)
    return np.where(equal, lowest, low), np.where(equal, highest, high)


def resample(values: Floats, *, resamples: int, seed: int) -> Resamples:
    """Resample the rows, for all columns alike.

    Args:
        values: Shape (n, m): one row per thread.
        resamples: Number of resamples.
        seed: Seed of the generator.

    Returns:
        The means. Below `BOOTSTRAP_SAMPLE` threads the weights of the threads and of the unseen value are uniform on
        all sets of weights (a flat Dirichlet distribution). From there on each thread weighs as often as it was drawn.
    """
    n, bounded = len(values), len(values) < BOOTSTRAP_SAMPLE
    # Weights times rows: one matrix product serves all columns.
    block = max(1, (_DRAWS_AT_ONCE_FEW if values.shape[1] <= _FEW_COLUMNS else _DRAWS_AT_ONCE_MANY) // n)
    means, unseen = [], []
    for weights in _weights(n, resamples, seed, block):
        means.append(weights[:, :n] @ values)
        unseen.append(weights[:, n] if bounded else np.zeros(len(weights)))
    return Resamples(np.concatenate(means) / (1 if bounded else n), np.concatenate(unseen))


def _weights(n: int, resamples: int, seed: int, block: int) -> Iterator[Floats]:
    """Yield the weights of the threads, and of the unseen value if there is one, `block` resamples at a time."""
    itemsize = 8 if n < BOOTSTRAP_SAMPLE else 2
    if resamples * (n + 1) * itemsize > _KEPT_BYTES:
        yield from _draw(n, resamples, seed, block)
        return
    kept = _kept_weights(n, resamples, seed)
    for done in range(0, resamples, block):
        yield kept[done : done + block].astype(np.float64, copy=False)


@lru_cache(maxsize=_KEPT)
def _kept_weights(n: int, resamples: int, seed: int) -> Floats:
    """Draw all weights. Counts are small whole numbers and take two bytes each."""
    blocks = _draw(n, resamples, seed, max(1, _DRAWS_AT_ONCE_FEW // n))
    kept = np.concatenate([one if n < BOOTSTRAP_SAMPLE else one.astype(np.uint16) for one in blocks])
    kept.flags.writeable = False
    return kept


def _draw(n: int, resamples: int, seed: int, block: int) -> Iterator[Floats]:
    """Draw weights. The size of the blocks does not change them."""
    rng = np.random.default_rng(seed)
    for done in range(0, resamples, block):
        rows = min(block, resamples - done)
        if n < BOOTSTRAP_SAMPLE:
            weights = rng.standard_exponential((rows, n + 1))
            weights /= weights.sum(axis=1, keepdims=True)
            yield weights
        else:
            yield _draw_counts(rng, n, rows)


def _draw_counts(rng: np.random.Generator, n: int, rows: int) -> Floats:
    """Count the draws of each of n threads, in each of `rows` resamples of n."""
    drawn = rng.integers(0, n, size=(rows, n))
    drawn += np.arange(0, rows * n, n)[:, None]
    return np.bincount(drawn.reshape(-1), minlength=rows * n).reshape(rows, n).astype(np.float64)
