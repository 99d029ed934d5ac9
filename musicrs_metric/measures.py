"""Recall, nDCG, MRR, hit rate and precision, each a few lines of arithmetic on the ranks of the hits.

Five measures that other toolkits confuse are kept apart here by name:

    recall@k     |relevant in the first k| / |relevant|; not a hit rate, and not divided by min(k, |relevant|)
    ndcg@k       binary gain, discount 1 / log2(rank + 1), ideal list of min(|relevant|, k) hits (Järvelin and
                 Kekäläinen 2002, doi:10.1145/582415.582418)
    mrr          1 / rank of the first hit in the whole list (Voorhees 1999)
    hit@k        1 where the first k hold any relevant item
    precision@k  |relevant in the first k| / k

Every value lies in [0, 1]. A thread with no relevant item scores 0 in all of them; whether it enters a mean is the
caller's choice (`empty` in `musicrs_metric.scoring`).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from .errors import show
from .hits import Hits, Ints

DEFAULT_K = (1, 5, 10, 20)
LARGEST_K = 99_999

Floats = npt.NDArray[np.float64]


def check_cutoffs(k: int | Iterable[int]) -> tuple[int, ...]:
    """Return the cutoffs as a sorted tuple of distinct integers from 1 to `LARGEST_K`.

    Args:
        k: One cutoff or several.

    Raises:
        ValueError: A cutoff is not such an integer, or there is none.
    """
    cutoffs = list(k) if isinstance(k, Iterable) else [k]
    for cutoff in cutoffs:
        if isinstance(cutoff, bool) or not isinstance(cutoff, int | np.integer) or cutoff < 1:
            raise ValueError(f"k must be positive integers, found {cutoff!r}")
        if cutoff > LARGEST_K:
            raise ValueError(f"k must be at most {LARGEST_K}, found {show(int(cutoff))}")
    if not cutoffs:
        raise ValueError("k must name at least one cutoff, found none")
    return tuple(sorted({int(cutoff) for cutoff in cutoffs}))


def measure_names(k: tuple[int, ...]) -> list[str]:
    """Names of all measures at the cutoffs `k`, in the order of every table of this project."""
    return (
        [f"{name}@{c}" for name in ("recall", "ndcg") for c in k]
        + ["mrr"]
        + [f"{name}@{c}" for name in ("hit", "precision") for c in k]
    )


def discounts(depth: int) -> Floats:
    """Discount of ranks 1 to `depth`: 1 / log2(rank + 1); shape (depth,)."""
    return 1.0 / np.log2(np.arange(2, depth + 2, dtype=np.float64))


def ideal_dcg(n_relevant: Ints, k: int) -> Floats:
    """The DCG of the best possible list, min(n_relevant, k) hits from rank 1; same shape as `n_relevant`."""
    hits = np.minimum(n_relevant, k)
    gains = np.concatenate([[0.0], np.cumsum(discounts(int(hits.max(initial=0))))])
    return gains[hits]


def measure(hits: Hits, k: tuple[int, ...] = DEFAULT_K) -> dict[str, Floats]:
    """Compute every measure for every thread.

    Args:
        hits: Judged rankings of n threads.
        k: Cutoffs, as `check_cutoffs` returns them.

    Returns:
        Measure name to an array of shape (n,) with values in [0, 1]; 0 for a thread with no relevant item.
    """
    n = len(hits)
    found: dict[int, Floats | Ints] = {}
    dcg: dict[int, Floats | Ints] = {}
    thread, rank = hits.thread, hits.rank
    # The very numbers of the ideal list, summed in the same order: a perfect list is exactly 1, and none passes 1.
    discount = discounts(int(rank.max(initial=0)))
    for c in sorted(k, reverse=True):
        in_top = rank <= c
        thread, rank = thread[in_top], rank[in_top]
        found[c] = np.bincount(thread, minlength=n)
        dcg[c] = np.bincount(thread, weights=discount[rank - 1], minlength=n)
    values = {f"recall@{c}": divide(found[c], hits.n_relevant) for c in k}
    values |= {f"ndcg@{c}": divide(dcg[c], ideal_dcg(hits.n_relevant, c)) for c in k}
    values["mrr"] = _reciprocal_rank(hits)
    values |= {f"hit@{c}": (found[c] > 0).astype(np.float64) for c in k}
    values |= {f"precision@{c}": found[c] / c for c in k}
    return values


def divide(numerator: Floats | Ints, denominator: Floats | Ints) -> Floats:
    """Divide, with 0 where the denominator is 0 (a thread with no relevant item)."""
    return np.divide(numerator, denominator, out=np.zeros(len(numerator)), where=denominator != 0)


def _reciprocal_rank(hits: Hits) -> Floats:
    reciprocal = np.zeros(len(hits))
    first = np.flatnonzero(np.diff(hits.thread, prepend=-1))
    reciprocal[hits.thread[first]] = 1.0 / hits.rank[first]
    return reciprocal
