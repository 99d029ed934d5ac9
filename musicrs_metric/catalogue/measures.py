"""Measures of a ranking of a catalogue, with exact chance and ceiling.

With G relevant clusters, H_k hits in the first k ranks and h_i = 1 for a hit at rank i:

- recall@k = H_k / G
- nDCG@k = DCG of the first k / DCG of the best list; gain 1, discount 1 / log2(rank + 1)
- mrr@k = 1 / rank of the first hit if that rank is at most k, else 0
- map@k = (sum over i <= k of h_i H_i / i) / min(G, k)
- hit@k = 1 if H_k > 0, else 0
- precision@k = H_k / k

All are in [0, 1], and 0 for a turn without relevant clusters. For a random order of N clusters with g relevant ones,
rank i holds a relevant one with probability g / N. Given that, another rank does with probability (g - 1) / (N - 1).
Chance follows from these (`chance_levels`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..closed_forms import Floats, Rest, divide, expected_reciprocal_rank, ideal_dcg
from ..hits import Hits, Ints
from ..measures import NDCG, Counts, HitRate, Measure, Precision, Recall, check_cutoffs, count_hits
from ..scoring import ThreadTable

CATALOGUE_K = (1, 5, 10, 20, 100)
LABELS = ("recall", "ndcg", "mrr", "map", "hit", "precision")
_SHARED: dict[str, type[Measure]] = {"recall": Recall, "ndcg": NDCG, "hit": HitRate, "precision": Precision}

Columns = dict[str, Floats]


def catalogue_table(hits: Hits, k: int | Sequence[int] = CATALOGUE_K) -> ThreadTable:
    """Compute all measures of judged rankings for each turn, with chance and ceiling.

    Args:
        hits: Judged rankings of n turns, with the number of clusters that each can rank.
        k: Cutoffs.

    Returns:
        The table; measure names such as "map@20".

    Raises:
        ValueError: A cutoff is no integer from 1 to 99,999.
    """
    cutoffs = check_cutoffs(k)
    return ThreadTable(hits, cutoffs, values(hits, cutoffs), chance_levels(hits, cutoffs), ceilings(hits, cutoffs))


def values(hits: Hits, k: Sequence[int]) -> Columns:
    """Return measure name to shape (n,): the values of judged rankings."""
    counts = count_hits(hits, k)
    own: dict[str, Callable[[int], Floats]] = {
        "mrr": lambda cutoff: np.where(counts.first >= 1 / cutoff, counts.first, 0.0),
        "map": lambda cutoff: divide(_precision_at_hits(hits, cutoff), np.minimum(hits.n_relevant, cutoff)),
    }
    return _columns(k, lambda measure: measure.value(counts), own)


def chance_levels(hits: Hits, k: Sequence[int]) -> Columns:
    """Return measure name to shape (n,): the expected values of a random order of the clusters, exact to rounding."""
    n = len(hits)
    sizes = np.zeros(n, dtype=np.int64) if hits.pool_size is None else hits.pool_size
    none = np.zeros(n, dtype=np.int64)
    nothing_ranked = Counts(hits.n_relevant, dict.fromkeys(k, none), dict.fromkeys(k, np.zeros(n)), np.zeros(n))
    whole = Rest(start=none, depth=sizes, size=sizes, n_relevant=hits.n_reachable)
    own: dict[str, Callable[[int], Floats]] = {
        "mrr": lambda cutoff: whole.per_kind(
            lambda size, n_relevant, _start, _depth: expected_reciprocal_rank(size, n_relevant, depth=cutoff)
        ),
        "map": lambda cutoff: _expected_map(sizes, hits, cutoff),
    }
    return _columns(k, lambda measure: measure.expected(nothing_ranked, whole), own)


def ceilings(hits: Hits, k: Sequence[int]) -> Columns:
    """Return measure name to shape (n,): the values of a perfect order of the clusters."""
    reachable = hits.n_reachable
    perfect = Counts(
        hits.n_relevant,
        n_hits={cutoff: np.minimum(cutoff, reachable) for cutoff in k},
        dcg={cutoff: ideal_dcg(reachable, cutoff) for cutoff in k},
        first=(reachable > 0).astype(np.float64),
    )
    own: dict[str, Callable[[int], Floats]] = {
        "mrr": lambda _: perfect.first,
        "map": lambda cutoff: divide(np.minimum(reachable, cutoff), np.minimum(hits.n_relevant, cutoff)),
    }
    return _columns(k, lambda measure: measure.value(perfect), own)


def _columns(k: Sequence[int], shared: Callable[[Measure], Floats], own: dict[str, Callable[[int], Floats]]) -> Columns:
    return {
        f"{label}@{cutoff}": shared(_SHARED[label](cutoff)) if label in _SHARED else own[label](cutoff)
        for label in LABELS
        for cutoff in k
    }


def _precision_at_hits(hits: Hits, cutoff: int) -> Floats:
    """Return the sum of H_i / i over the hits of each turn up to the cutoff."""
    # Hits are in order of turn and rank, so the number of a hit within its turn is H_i.
    starts = np.searchsorted(hits.thread, np.arange(len(hits)))
    number = np.arange(len(hits.thread)) - starts[hits.thread] + 1
    counted = hits.rank <= cutoff
    precision = number[counted] / hits.rank[counted]
    return np.bincount(hits.thread[counted], weights=precision, minlength=len(hits)).astype(np.float64)


def _expected_map(sizes: Ints, hits: Hits, cutoff: int) -> Floats:
    reachable, deepest = hits.n_reachable, int(np.minimum(sizes, cutoff).max(initial=0))
    ranks = np.arange(1, deepest + 1)
    harmonic = np.concatenate([[0.0], np.cumsum(1 / ranks)])[np.minimum(sizes, cutoff)]
    depth = np.minimum(sizes, cutoff)
    # sum of (1 + (r - 1) c) / r over r <= depth, with c the probability of another relevant one at an earlier rank
    other = divide((reachable - 1).astype(np.float64), sizes - 1)
    expected = divide(reachable.astype(np.float64), sizes) * (harmonic + other * (depth - harmonic))
    return divide(expected, np.minimum(hits.n_relevant, cutoff))
