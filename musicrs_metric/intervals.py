"""How far a mean over threads can be trusted: standard error and seeded bootstrap interval."""

from __future__ import annotations

from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from .errors import show
from .measures import Floats

RESAMPLES = 10_000
CONFIDENCE = 0.95
# Beyond this many threads the resampled mean is normal to the digits shown, and drawing n x 10,000 indices is waste.
LARGE_SAMPLE = 1_000
# With the columns of one system, small blocks of draws take half the time: they stay in the processor's cache, and
# their products are too small for BLAS to start threads that wait for each other. Products of many columns are worth
# the threads, in blocks of a size that memory can hold.
_FEW_COLUMNS = 32
_DRAWS_AT_ONCE_FEW, _DRAWS_AT_ONCE_MANY = 15_000, 4_000_000


class Intervals(NamedTuple):
    """Intervals of the means of m columns.

    Attributes:
        low: Shape (m,).
        high: Shape (m,).
        method: "percentile bootstrap", or "normal" for more than `LARGE_SAMPLE` threads.
    """

    low: Floats
    high: Floats
    method: str


def standard_error(values: Floats) -> Floats | None:
    """Standard error of the mean of each column, from the sample standard deviation (ddof = 1).

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
    values: Floats, *, confidence: float = CONFIDENCE, resamples: int = RESAMPLES, seed: int = 0
) -> Intervals | None:
    """Interval of the mean of each column over threads drawn at random.

    The percentile bootstrap (Efron and Tibshirani 1993, chapter 13) draws whole threads, the same ones for all
    columns. For more than `LARGE_SAMPLE` threads the mean plus and minus z standard errors, cut at the least and the
    greatest value, is given in its place.

    Args:
        values: Shape (n, m): one row per thread.
        confidence: Coverage, between 0 and 1.
        resamples: Bootstrap resamples, at least 1.
        seed: Seed of the generator, 0 or more; the same seed gives the same digits.

    Returns:
        The intervals, or None for n < 2, where a resample has nothing to vary.

    Raises:
        ValueError: `confidence` lies outside (0, 1), `resamples` is not a positive integer, or `seed` is a negative
            number or no integer.
    """
    if not isinstance(confidence, float) or not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, found {confidence!r}")
    if not isinstance(resamples, int | np.integer) or resamples < 1:
        raise ValueError(f"resamples must be at least 1, a whole number; found {resamples!r}")
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ValueError(f"seed must be at least 0, a whole number; found {show(seed)}")
    n = len(values)
    if n < 2:
        return None
    tail = (1 - confidence) / 2
    if n > LARGE_SAMPLE:
        z = NormalDist().inv_cdf(1 - tail)
        reach = z * values.std(axis=0, ddof=1) / np.sqrt(n)
        mean, least, most = values.mean(axis=0), values.min(axis=0), values.max(axis=0)
        return Intervals(np.maximum(mean - reach, least), np.minimum(mean + reach, most), "normal")
    means = resampled_means(values, resamples=resamples, seed=seed)
    low, high = np.quantile(means, [tail, 1 - tail], axis=0)
    return Intervals(low, high, "percentile bootstrap")


def resampled_means(values: Floats, *, resamples: int, seed: int) -> Floats:
    """Column means of bootstrap resamples of the rows.

    Args:
        values: Shape (n, m).
        resamples: Number of resamples.
        seed: Seed of the generator.

    Returns:
        Shape (resamples, m).
    """
    rng = np.random.default_rng(seed)
    n = len(values)
    # How often each row was drawn, times the rows: one matrix product serves all columns.
    block = max(1, (_DRAWS_AT_ONCE_FEW if values.shape[1] <= _FEW_COLUMNS else _DRAWS_AT_ONCE_MANY) // n)
    sums = [_draw_counts(rng, n, min(block, resamples - done)) @ values for done in range(0, resamples, block)]
    return np.concatenate(sums) / n


def _draw_counts(rng: np.random.Generator, n: int, rows: int) -> Floats:
    """How often each of n threads was drawn, in each of `rows` resamples of n."""
    drawn = rng.integers(0, n, size=(rows, n))
    drawn += np.arange(0, rows * n, n)[:, None]
    return np.bincount(drawn.reshape(-1), minlength=rows * n).reshape(rows, n).astype(np.float64)
