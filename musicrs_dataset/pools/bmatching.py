"""Random bipartite b-matching: assign titles to pools, with a given number of pools per title.

Every admissible pair of title and pool gets an independent uniform cost, and the result is the matching of least total
cost. The costs treat all titles and all pools alike, so the result shows nothing but the requirements. The costs are
drawn from a continuum, so the cheapest matching is unique. It is a function of the seed and not of the solver.

The constraints are two nested families of sets (titles; pools with the spellings of one title inside them). The linear
program therefore has integral vertices, and its simplex solution is the matching (Edmonds 1970; Schrijver 2003, §41).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


def random_b_matching(
    allowed: Bools,
    need: Ints,
    low: Ints,
    high: Ints,
    exclusive: Sequence[Sequence[int]],
    rng: np.random.Generator,
) -> Bools | None:
    """Match titles to pools at random.

    Args:
        allowed: Shape (n_titles, n_pools): True if the title may be in the pool.
        need: Shape (n_titles,): number of pools of each title.
        low: Shape (n_pools,): fewest titles of each pool.
        high: Shape (n_pools,): most titles of each pool.
        exclusive: Groups of titles (spellings of one title); a pool holds at most one of each group.
        rng: Generator that draws the costs.

    Returns:
        Shape (n_titles, n_pools), True if matched; None if no matching meets the requirements.

    Raises:
        RuntimeError: The solver stopped without a result.
    """
    cost = rng.random(allowed.shape)
    # Expensive pairs are rarely needed, and without them the program is a third as large.
    for max_cost in (0.35, 1.0):
        matched = _cheapest(cost, allowed & (cost < max_cost), need, low, high, exclusive)
        if matched is not None:
            return matched
    return None


def _cheapest(
    cost: npt.NDArray[np.float64], allowed: Bools, need: Ints, low: Ints, high: Ints, exclusive: Sequence[Sequence[int]]
) -> Bools | None:
    from scipy import sparse
    from scipy.optimize import linprog

    title, pool = np.nonzero(allowed)
    if not len(title):
        return np.zeros_like(allowed) if not need.any() and not low.any() else None
    n_titles, n_pools = allowed.shape
    pair = np.arange(len(title))

    def sums(group: Ints, n_groups: int) -> sparse.csr_array:
        inside = group >= 0
        return sparse.csr_array((np.ones(inside.sum()), (group[inside], pair[inside])), shape=(n_groups, len(pair)))

    group_of = np.full(n_titles, -1)
    for group, titles in enumerate(exclusive):
        group_of[list(titles)] = group
    spelled = np.where(group_of[title] < 0, -1, group_of[title] * n_pools + pool)
    in_pool = sums(pool, n_pools)
    at_most = [in_pool, -in_pool, sums(spelled, len(exclusive) * n_pools)]
    bounds = np.concatenate([high, -low, np.ones(len(exclusive) * n_pools)])
    solution = linprog(
        cost[title, pool],
        A_ub=sparse.vstack(at_most, format="csr"), b_ub=bounds,
        A_eq=sums(title, n_titles), b_eq=need,
        bounds=(0, 1), method="highs-ds",
    )  # fmt: skip
    if solution.status == 2:
        return None
    if solution.status != 0:
        raise RuntimeError(f"the linear program of the pools was not solved: {solution.message}")
    matched = np.zeros_like(allowed)
    matched[title, pool] = solution.x > 0.5
    return matched
