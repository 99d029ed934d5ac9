"""Pairs of systems on one metric: difference, interval, tests and counts, all from shared draws."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..intervals import CONFIDENCE, resampled_means
from ..measures import Floats
from .significance import flipped_sums, holm, sign_flip_p, t_test

Ints = npt.NDArray[np.int64]


class Sample(NamedTuple):
    """Values of n threads with what chance could have made of them; `...` is the same shape throughout.

    Attributes:
        values: Shape (n, ...): one row per thread.
        drawn: Shape (resamples, ...): means of bootstrap resamples of the threads.
        flipped: Shape (resamples, ...): sums after random sign flips of the threads.
    """

    values: Floats
    drawn: Floats
    flipped: Floats

    def column(self, j: int) -> Sample:
        """The sample at place `j` of the second axis."""
        return Sample(*(np.ascontiguousarray(array[:, j]) for array in self))


def take_sample(values: Floats, *, resamples: int, seed: int) -> Sample:
    """Draw resamples and sign flips once, for all columns.

    Means and sums are linear: the resampled mean of a difference of two systems is the difference of their resampled
    means. So two matrix products serve every pair, and the figures of a pair do not depend on who else is compared.

    Args:
        values: Shape (n, ...): one row per thread.
        resamples: Bootstrap resamples, and sign flips.
        seed: Of both.

    Returns:
        The sample.
    """
    flat, rest = values.reshape(len(values), -1), values.shape[1:]
    drawn = resampled_means(flat, resamples=resamples, seed=seed)
    flipped = flipped_sums(flat, flips=resamples, seed=seed)
    return Sample(values, drawn.reshape(-1, *rest), flipped.reshape(-1, *rest))


class Pairs(NamedTuple):
    """Statistics of p differences "a minus b" on one metric, one family of tests.

    Attributes:
        difference: Shape (p,): mean of the per-thread differences.
        low: Shape (p,): lower end of the paired bootstrap interval; NaN for n < 2.
        high: Shape (p,): upper end.
        sd: Shape (p,): standard deviation of the differences (ddof = 1); NaN for n < 2.
        t: Shape (p,): paired t; NaN where the differences do not vary.
        p_t: Shape (p,): its two-sided p value. Where t is undefined the sign-flip p value stands in its place: 1 for
            two systems that agree on every thread.
        p_flip: Shape (p,): two-sided sign-flip p value, never 0.
        p_t_holm: Shape (p,): `p_t` after Holm's correction over the family.
        p_flip_holm: Shape (p,): `p_flip` likewise.
        wins: Shape (p,): threads on which `a` is better.
        ties: Shape (p,): threads on which both are equal.
        losses: Shape (p,): threads on which `b` is better.
    """

    difference: Floats
    low: Floats
    high: Floats
    sd: Floats
    t: Floats
    p_t: Floats
    p_flip: Floats
    p_t_holm: Floats
    p_flip_holm: Floats
    wins: Ints
    ties: Ints
    losses: Ints


def all_pairs(n_systems: int) -> tuple[Ints, Ints]:
    """Places of the first and of the second system of every pair: (0, 1), (0, 2), ..., (1, 2), ..."""
    a, b = np.triu_indices(n_systems, 1)
    return a, b


def compare_pairs(a: Ints, b: Ints, sample: Sample, *, confidence: float = CONFIDENCE) -> Pairs:
    """Compare columns with each other.

    Args:
        a: Shape (p,): columns to subtract from.
        b: Shape (p,): columns to subtract.
        sample: One column per system.
        confidence: Coverage of the intervals.

    Returns:
        The statistics, in the order given.

    Raises:
        UserError: scipy is not installed.
    """
    values, drawn, flipped = sample
    differences = values[:, a] - values[:, b]
    low, high = mean_bounds(differences, drawn[:, a] - drawn[:, b], confidence)
    sd, t, p = t_test(differences)
    p_flip = sign_flip_p(flipped[:, a] - flipped[:, b], differences.sum(axis=0))
    p_t = np.where(np.isnan(p), p_flip, p)
    wins, losses = (differences > 0).sum(axis=0), (differences < 0).sum(axis=0)
    ties = len(values) - wins - losses
    difference = differences.mean(axis=0)
    return Pairs(difference, low, high, sd, t, p_t, p_flip, holm(p_t), holm(p_flip), wins, ties, losses)


def mean_bounds(values: Floats, drawn: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Percentile interval of the mean of each column, from resampled means.

    Args:
        values: Shape (n, p): what was resampled.
        drawn: Shape (resamples, p): its resampled means.
        confidence: Coverage.

    Returns:
        Lower and upper ends, each of shape (p,); exactly 0 for a column of zeros, NaN for n < 2.
    """
    if len(values) < 2:
        undefined = np.full(values.shape[1], np.nan)
        return undefined, undefined
    tail = (1 - confidence) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail], axis=0)
    # A matrix product may round equal columns differently; a difference of 0 everywhere has no uncertainty at all.
    varies = values.any(axis=0)
    return np.where(varies, low, 0.0), np.where(varies, high, 0.0)
