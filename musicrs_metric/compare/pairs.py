"""Pairs of systems on one metric: difference, interval, tests and counts, all from shared draws."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..intervals import CONFIDENCE, DIFFERENCES, Resamples, interval_ends, resample
from ..measures import Floats
from .significance import flipped_sums, holm, sign_flip_p, t_test

Ints = npt.NDArray[np.int64]


class Sample(NamedTuple):
    """Values of n threads with their resamples and sign flips. `...` is the same shape throughout.

    Attributes:
        values: Shape (n, ...): one row per thread.
        drawn: Shape (resamples, ...): means of resamples of the threads.
        unseen: Shape (resamples,): weight of the unseen value in each resample (`musicrs_metric.intervals.Resamples`).
        flipped: Shape (resamples, ...): sums after random sign flips of the threads.
    """

    values: Floats
    drawn: Floats
    unseen: Floats
    flipped: Floats

    def column(self, j: int) -> Sample:
        """Return the sample at position `j` of the second axis."""
        values, drawn, flipped = (
            np.ascontiguousarray(array[:, j]) for array in (self.values, self.drawn, self.flipped)
        )
        return Sample(values, drawn, self.unseen, flipped)


def take_sample(values: Floats, *, resamples: int, seed: int) -> Sample:
    """Draw resamples and sign flips once, for all columns.

    Means and sums are linear: the resampled mean of a difference of two systems is the difference of their resampled
    means. So two matrix products serve every pair, and the figures of a pair do not depend on the other systems.

    Args:
        values: Shape (n, ...): one row per thread.
        resamples: Number of resamples, and of sign flips.
        seed: Seed of both.

    Returns:
        The sample.
    """
    flat, rest = values.reshape(len(values), -1), values.shape[1:]
    drawn = resample(flat, resamples=resamples, seed=seed)
    flipped = flipped_sums(flat, flips=resamples, seed=seed)
    return Sample(values, drawn.means.reshape(-1, *rest), drawn.unseen, flipped.reshape(-1, *rest))


class Pairs(NamedTuple):
    """Statistics of p differences "a minus b" on one metric, one family of tests.

    Attributes:
        difference: Shape (p,): mean of the per-thread differences.
        low: Shape (p,): lower end of the paired interval; NaN for fewer than 5 threads.
        high: Shape (p,): upper end.
        sd: Shape (p,): standard deviation of the differences (ddof = 1); NaN for n < 2.
        t: Shape (p,): paired t; NaN if the differences do not vary.
        p_t: Shape (p,): its two-sided p value. If t is undefined, the sign-flip p value replaces it: 1 for two systems
            that agree on every thread.
        p_flip: Shape (p,): two-sided sign-flip p value, never 0.
        p_t_holm: Shape (p,): `p_t` after Holm's correction over the family.
        p_flip_holm: Shape (p,): `p_flip` after the same correction.
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
    """Return the positions of the first and of the second system of every pair: (0, 1), (0, 2), ..., (1, 2), ..."""
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
    values, drawn, unseen, flipped = sample
    differences = values[:, a] - values[:, b]
    low, high = interval_ends(differences, Resamples(drawn[:, a] - drawn[:, b], unseen), confidence, DIFFERENCES)
    sd, t, p = t_test(differences)
    p_flip = sign_flip_p(flipped[:, a] - flipped[:, b], differences.sum(axis=0))
    p_t = np.where(np.isnan(p), p_flip, p)
    wins, losses = (differences > 0).sum(axis=0), (differences < 0).sum(axis=0)
    ties = len(values) - wins - losses
    difference = differences.mean(axis=0)
    return Pairs(difference, low, high, sd, t, p_t, p_flip, holm(p_t), holm(p_flip), wins, ties, losses)
