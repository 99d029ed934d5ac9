"""Chance, ceiling, and the verdict of a score against chance.

Chance is the expected value of an empty ranking that is completed by a random order of the pool. The ceiling is the
value of a perfect order. Both follow from the measures (`musicrs_metric.measures`). They depend only on the size of the
pool and the number of relevant items.

The verdict follows one rule everywhere. The null distribution is that of a random order of each pool
(`musicrs_metric.random_orders`). A score is above chance if random orders reach it with a probability of at most 2.5 %.
It is below chance if they stay at or under it with a probability of at most 2.5 %. This is a test of one system on one
measure, with a two-sided level of 5 % and without correction for several systems. It holds for any number of threads.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from .closed_forms import Floats, Rest, ideal_dcg
from .hits import Hits
from .measures import DEFAULT_K, Counts, measures_at, named_measure
from .random_orders import Pools, kinds_of, null_distribution

Verdict = Literal["above", "at", "below"]
VERDICT_LEVEL = 0.05
_ROUNDING = 1e-9
VERDICT_RULE = (
    "above or below chance: random orders of the pools score as high, or as low, with a probability of at most 2.5 % "
    "(exact null distribution, two-sided level 5 %, not corrected for several systems)"
)

DIALOGUE_RULE = (
    "above or below chance: random orders, one per dialogue for all its turns, score as high, or as low, with a "
    "probability of at most 2.5 % (simulated, two-sided level 5 %, not corrected for several systems)"
)


def chance(hits: Hits, k: tuple[int, ...] = DEFAULT_K) -> dict[str, Floats] | None:
    """Return the expected value of every measure for a uniformly random order of each thread's whole pool.

    Args:
        hits: Threads with their pool sizes and numbers of relevant items. The rankings have no influence.
        k: Cutoffs.

    Returns:
        Measure name to an array of shape (n,), exact to rounding; 0 for a thread with no relevant item. None without
        pools, since chance is then undefined.
    """
    if hits.pool_size is None:
        return None
    n = len(hits)
    none = np.zeros(n, dtype=np.int64)
    nothing_ranked = Counts(hits.n_relevant, dict.fromkeys(k, none), dict.fromkeys(k, np.zeros(n)), np.zeros(n))
    pools = Rest(start=none, depth=hits.pool_size, size=hits.pool_size, n_relevant=hits.n_reachable)
    return {measure.name: measure.expected(nothing_ranked, pools) for measure in measures_at(k)}


def ceiling(hits: Hits, k: tuple[int, ...] = DEFAULT_K) -> dict[str, Floats]:
    """Return the best value that any order of the pool can reach.

    Recall@k stays below 1 if a thread has more than k relevant items, or if its pool lacks some of them.

    Args:
        hits: Threads with their numbers of relevant and reachable items.
        k: Cutoffs.

    Returns:
        Measure name to an array of shape (n,); 0 for a thread with no reachable relevant item.
    """
    perfect = Counts(
        hits.n_relevant,
        n_hits={cutoff: np.minimum(cutoff, hits.n_reachable) for cutoff in k},
        dcg={cutoff: ideal_dcg(hits.n_reachable, cutoff) for cutoff in k},
        first=(hits.n_reachable > 0).astype(np.float64),
    )
    return {measure.name: measure.value(perfect) for measure in measures_at(k)}


class ChanceTest(NamedTuple):
    """A mean score against random orders of the pools.

    Attributes:
        p_above: Probability that random orders of the pools reach the score or more.
        p_below: Probability that they reach the score or less.
    """

    p_above: float
    p_below: float

    @property
    def verdict(self) -> Verdict:
        """Return "above", "at" or "below" by `VERDICT_RULE`."""
        if self.p_above <= VERDICT_LEVEL / 2 + _ROUNDING:
            return "above"
        return "below" if self.p_below <= VERDICT_LEVEL / 2 + _ROUNDING else "at"

    @property
    def p(self) -> float:
        """Return the two-sided p value: twice the smaller tail, at most 1."""
        return min(1.0, 2 * min(self.p_above, self.p_below))


def chance_test(measure: str, mean: float | None, pools: Pools | None) -> ChanceTest | None:
    """Test a mean over threads against random orders of their pools.

    Args:
        measure: Such as "recall@20".
        mean: Mean over the threads, in [0, 1].
        pools: The kinds of pools of the same threads, from `pools_of`.

    Returns:
        The test; None if pools are unknown or there is no thread.
    """
    if mean is None or not pools:
        return None
    total = mean * sum(kind.n for kind in pools)
    null = null_distribution(named_measure(measure), pools)
    return ChanceTest(null.at_least(total), null.at_most(total))


def verdict(measure: str, mean: float | None, pools: Pools | None) -> Verdict | None:
    """Return the verdict of a mean score against chance. `chance_test` describes the arguments.

    Returns:
        "above", "at" or "below" by `VERDICT_RULE`; None if pools are unknown or there is no thread.
    """
    test = chance_test(measure, mean, pools)
    return None if test is None else test.verdict


def pools_of(hits: Hits, chosen: npt.NDArray[np.bool_]) -> Pools | None:
    """Count the kinds of pools of some threads.

    Args:
        hits: Judged rankings of n threads.
        chosen: Shape (n,): the threads to count.

    Returns:
        The kinds; None if the pools are unknown.
    """
    if hits.pool_size is None:
        return None
    columns = (hits.pool_size, hits.n_reachable, hits.n_relevant)
    return kinds_of(zip(*(column[chosen].tolist() for column in columns), strict=True))
