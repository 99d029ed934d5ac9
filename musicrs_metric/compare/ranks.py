"""Ranks, intervals of ranks, and rank groups: systems that the tests cannot separate from the best of the group.

A comparison tests all pairs of its systems (`rank_groups`). A leaderboard compares with the best only
(`groups_with_best`), because anyone can add rows to it, and a family of all pairs would grow with every row.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..intervals import CONFIDENCE
from ..measures import Floats
from .significance import ROUNDING, paired_p

Ints = npt.NDArray[np.int64]


def ranks(means: Floats) -> Ints:
    """Return the rank within each row: 1 + the number of better systems. Equal systems share the better rank.

    Args:
        means: Shape (..., s).

    Returns:
        Same shape, 1 = best.
    """
    better = [(means > means[..., [i]] + ROUNDING).sum(axis=-1) for i in range(means.shape[-1])]
    return 1 + np.stack(better, axis=-1)


def rank_bounds(drawn: Floats, confidence: float) -> tuple[Ints, Ints]:
    """Return the percentile interval of every system's rank.

    The systems are ranked in each bootstrap resample of the threads. An interval covers the rank of one system. That
    all intervals hold at once is less certain.

    Args:
        drawn: Shape (resamples, s): means of the systems in each resample.
        confidence: Coverage.

    Returns:
        Lower and upper ends, each of shape (s,), 1 to s.
    """
    return _percentiles(_sorted_ranks(drawn).T, confidence)


def _percentiles(ranked: npt.NDArray[np.integer[Any]], confidence: float) -> tuple[Ints, Ints]:
    """Return the percentile interval of each row of ranks."""
    tail = (1 - confidence) / 2
    places = np.arange(ranked.shape[1])
    low, high = np.quantile(places, [tail, 1 - tail], method="inverted_cdf").astype(np.int64)
    in_order = np.sort(ranked, axis=1)  # for whole numbers faster than a partition of each row
    return in_order[:, low].astype(np.int64), in_order[:, high].astype(np.int64)


class GrowingRanks:
    """Ranks of systems in each resample, as `rank_bounds` computes them, for systems that come and go one at a time.

    A new system is compared with the others. The others are not compared with each other again.
    """

    _FEW = 8  # more new systems than this are ranked by sorting all

    def __init__(self) -> None:
        self._keys: list[Hashable] = []
        self._drawn: Floats = np.empty((0, 0), dtype=np.float32)
        self._ranked = np.empty((0, 0), dtype=np.int32)

    def bounds(self, drawn: Mapping[Hashable, Floats], confidence: float) -> tuple[Ints, Ints]:
        """Return the percentile interval of every system's rank.

        Args:
            drawn: Key of each system to its means in each resample, shape (resamples,). A key always has the same
                means.
            confidence: Coverage.

        Returns:
            Lower and upper ends, each of shape (s,), in the order of `drawn`.
        """
        known = set(self._keys)
        new = [key for key in drawn if key not in known]
        left = [i for i, key in enumerate(self._keys) if key not in drawn]
        if len(new) + len(left) > min(self._FEW, len(self._keys)):
            self._keys = list(drawn)
            self._drawn = np.stack(list(drawn.values()))
            self._ranked = _sorted_ranks(self._drawn.T).T.astype(np.int32)
        else:
            for i in reversed(left):
                self._remove(i)
            for key in new:
                self._add(key, drawn[key])
        place = {key: i for i, key in enumerate(self._keys)}
        low, high = _percentiles(self._ranked, confidence)
        order = [place[key] for key in drawn]
        return low[order], high[order]

    def _add(self, key: Hashable, draws: Floats) -> None:
        rank = 1 + (self._drawn > draws + ROUNDING).sum(axis=0)
        self._ranked += draws > self._drawn + ROUNDING
        self._keys.append(key)
        self._drawn = np.concatenate([self._drawn, draws[None]])
        self._ranked = np.concatenate([self._ranked, rank[None].astype(np.int32)])

    def _remove(self, i: int) -> None:
        draws = self._drawn[i]
        del self._keys[i]
        self._drawn, self._ranked = np.delete(self._drawn, i, axis=0), np.delete(self._ranked, i, axis=0)
        self._ranked -= draws > self._drawn + ROUNDING


def _sorted_ranks(drawn: Floats) -> Ints:
    """Return `ranks` by sorting each row. For hundreds of systems that is much faster than comparing all with all."""
    order = np.argsort(-drawn, axis=1)
    best_first = np.take_along_axis(drawn, order, axis=1)
    falls = np.diff(best_first, axis=1, prepend=np.inf) < -ROUNDING
    positions = np.maximum.accumulate(np.where(falls, np.arange(1, drawn.shape[1] + 1), 0), axis=1)
    ranked = np.empty_like(positions)
    np.put_along_axis(ranked, order, positions, axis=1)
    return ranked


def rank_groups(means: Floats, different: npt.NDArray[np.bool_]) -> Ints:
    """Sort systems into groups that the tests cannot separate from the best of the group.

    Group 1 holds the best system and every system that does not differ significantly from it. Group 2 is formed in the
    same way from the other systems, and so on. A group compares its members with its best only, not with each other. A
    system of higher variance can be in a better group than one with a slightly higher mean.

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


def groups_with_best(
    values: Floats, level: float = 1 - CONFIDENCE, p_values: Callable[[int, Sequence[int]], Floats] | None = None
) -> Ints:
    """Sort systems into groups by comparison with the best of each group.

    The systems are visited from the best to the worst. A system leaves the group if the paired t test against its best
    has p * m <= level. m is the number of better systems that have stayed in the group. The systems that leave form the
    next group in the same way. The group of a system therefore depends on better systems only: a system that is worse
    never changes it. The best of many equal systems is best by luck. m corrects for this: a system that is as good as
    any other leaves group 1 with a probability of at most `level` (see `tests/metric/test_with_best.py`).

    Background: Hsu (1996), Multiple Comparisons: Theory and Methods, chapter 4, for comparisons with the best. Zhao,
    Small and Su (2019, doi:10.1080/01621459.2018.1497499) for a correction that counts only tests in one direction.

    Args:
        values: Shape (n, s): values of s systems on n threads. Of equal means the first leads.
        level: Level of the tests.
        p_values: Returns the p values of one system against others, by their columns; None for the paired t test.

    Returns:
        Shape (s,): the group of each system, 1 = not separated from the best.
    """
    left = np.argsort(-values.mean(axis=0).round(9), kind="stable")
    group = np.zeros(values.shape[1], dtype=np.int64)
    number = 0
    while left.size:
        number += 1
        if p_values is None:
            p = paired_p(values[:, left[:1]] - values[:, left[1:]])
        else:
            p = p_values(int(left[0]), left[1:].tolist())
        stays = np.ones(left.size, dtype=bool)
        contenders = 1
        for place, value in enumerate(p.tolist(), 1):
            stays[place] = value * contenders > level
            contenders += bool(stays[place])
        group[left[stays]] = number
        left = left[~stays]
    return group
