"""Who is better than whom, once luck is allowed for: rank groups and intervals of ranks."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..measures import Floats
from .significance import ROUNDING

Ints = npt.NDArray[np.int64]


def ranks(means: Floats) -> Ints:
    """Rank within each row: 1 + the number of systems that are better; equal systems share the better rank.

    Args:
        means: Shape (..., s).

    Returns:
        Same shape, 1 = best.
    """
    better = [(means > means[..., [i]] + ROUNDING).sum(axis=-1) for i in range(means.shape[-1])]
    return 1 + np.stack(better, axis=-1)


def rank_bounds(drawn: Floats, confidence: float) -> tuple[Ints, Ints]:
    """Percentile interval of every system's rank.

    The systems are ranked anew in each bootstrap resample of the threads. The interval is meant for one system at a
    time; that all of them hold at once is less sure.

    Args:
        drawn: Shape (resamples, s): means of the systems in each resample.
        confidence: Coverage.

    Returns:
        Lower and upper ends, each of shape (s,), 1 to s.
    """
    tail = (1 - confidence) / 2
    low, high = np.quantile(ranks(drawn), [tail, 1 - tail], axis=0, method="inverted_cdf")
    return low.astype(np.int64), high.astype(np.int64)


def rank_groups(means: Floats, different: npt.NDArray[np.bool_]) -> Ints:
    """Sort systems into groups that the tests cannot tell from the best of the group.

    Group 1 is the best system and every one that does not differ significantly from it. Those taken away, group 2 is
    made in the same way of the rest, and so on. A group says nothing about two members other than its best, and a
    system of higher variance may be in a better group than one of a slightly higher mean.

    Args:
        means: Shape (s,).
        different: Shape (s, s), symmetric: whether two systems differ significantly.

    Returns:
        Shape (s,): the group of each system, 1 = tied with the best. Of equal means the first leads.
    """
    group = np.zeros(len(means), dtype=np.int64)
    number = 0
    while (left := np.flatnonzero(group == 0)).size:
        number += 1
        best = left[np.argmax(means[left])]
        group[left[~different[best, left]]] = number
    return group
