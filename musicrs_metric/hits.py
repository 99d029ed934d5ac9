"""The judged rankings of many threads as flat arrays: the one form from which every measure is computed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from .matching import Judgement, judge_in_pool, judge_without_pool

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Hits:
    """What the rankings of n threads found.

    Attributes:
        thread: Shape (h,): position of the thread of each hit, ascending.
        rank: Shape (h,): rank of each hit, 1 = best, ascending within a thread.
        n_relevant: Shape (n,): distinct relevant items.
        n_reachable: Shape (n,): relevant items that the pool holds.
        pool_size: Shape (n,): distinct candidates, or None where no pools are given.
        n_unknown: Shape (n,): ranked strings that name no candidate.
        n_duplicate: Shape (n,): ranked strings that repeat a candidate.
        missing: Shape (n,), bool: threads without any prediction.
    """

    thread: Ints
    rank: Ints
    n_relevant: Ints
    n_reachable: Ints
    pool_size: Ints | None
    n_unknown: Ints
    n_duplicate: Ints
    missing: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.n_relevant)


def hits_from_strings(
    rankings: Sequence[Sequence[str] | None],
    references: Sequence[Sequence[str]],
    candidates: Sequence[Sequence[str]] | None = None,
) -> Hits:
    """Judge rankings of strings.

    Args:
        rankings: One list of strings per thread, best first; None where the system gave no prediction.
        references: The relevant strings per thread; may be empty.
        candidates: The pool per thread, or None to match against the references alone.

    Returns:
        The hits, threads in the order given.

    Raises:
        ValueError: The three sequences differ in length.
    """
    _check_lengths(rankings=len(rankings), references=len(references), candidates=_length(candidates, len(rankings)))
    no_answer: Sequence[str] = ()
    judgements: Iterable[Judgement]
    if candidates is None:
        judgements = (judge_without_pool(r or no_answer, g) for r, g in zip(rankings, references, strict=True))
    else:
        judgements = (
            judge_in_pool(r or no_answer, g, c) for r, g, c in zip(rankings, references, candidates, strict=True)
        )
    missing = np.fromiter((r is None for r in rankings), dtype=bool, count=len(rankings))
    return _gather(judgements, missing, with_pool=candidates is not None)


def hits_from_indices(
    rankings: Any,
    references: Any,
    pool_sizes: int | Sequence[int] | Ints,
) -> Hits:
    """Judge rankings given as places in the pool; orders of magnitude quicker than strings.

    Args:
        rankings: Integer array of shape (n, m), or a (possibly ragged) Arrow list array or sequence of sequences:
            places in the thread's pool, best first. -1 stands for an answer that names no candidate.
        references: Boolean array of shape (n, p), true where the candidate is relevant; or, per thread, the places
            of the relevant candidates.
        pool_sizes: Candidates per thread; one number where all pools are of one size.

    Returns:
        The hits; a repeated place keeps its first rank and later ranks close up.

    Raises:
        ValueError: Lengths differ, or a place lies outside the pool.
    """
    places, lengths = _flatten(rankings)
    n = len(lengths)
    sizes = np.broadcast_to(np.asarray(pool_sizes, dtype=np.int64), (n,)) if np.ndim(pool_sizes) == 0 else None
    sizes = np.asarray(pool_sizes, dtype=np.int64) if sizes is None else sizes
    mask = _relevance_mask(references, int(sizes.max(initial=0)))
    _check_lengths(rankings=n, references=len(mask), pool_sizes=len(sizes))
    n_relevant = np.count_nonzero(mask, axis=1).astype(np.int64)
    _check_places(places, lengths, sizes)
    uniform = n > 0 and bool((lengths == lengths[0]).all()) and int(lengths[0]) > 0
    if uniform:
        table = places.reshape(n, -1)
        ordered = np.sort(table, axis=1)
        clean = int(table.min()) >= 0 and not (ordered[:, 1:] == ordered[:, :-1]).any()
        if clean:
            relevant = np.take_along_axis(mask, table, axis=1)
            flat = np.flatnonzero(relevant)
            thread, column = np.divmod(flat, table.shape[1])
            zeros = np.zeros(n, dtype=np.int64)
            return Hits(thread, column + 1, n_relevant, n_relevant, sizes, zeros, zeros, np.zeros(n, dtype=bool))
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    judgements = (
        _judge_places(places[start:stop], mask[i], int(sizes[i]))
        for i, (start, stop) in enumerate(zip(bounds[:-1], bounds[1:], strict=True))
    )
    return _gather(judgements, np.zeros(n, dtype=bool), with_pool=True)


def _judge_places(places: Ints, relevant: npt.NDArray[np.bool_], pool_size: int) -> Judgement:
    known = places >= 0
    first = np.ones(len(places), dtype=bool)
    _, first_at, inverse = np.unique(places, return_index=True, return_inverse=True)
    first[:] = first_at[inverse] == np.arange(len(places))
    kept = places[first | ~known]
    found = (kept >= 0) & relevant[kept]
    n_relevant = int(relevant.sum())
    ranks = (np.flatnonzero(found) + 1).tolist()
    return Judgement(ranks, n_relevant, n_relevant, pool_size, int((~known).sum()), len(places) - len(kept))


def _gather(judgements: Iterable[Judgement], missing: npt.NDArray[np.bool_], *, with_pool: bool) -> Hits:
    rows = list(judgements)
    n = len(rows)

    def column(get: Callable[[Judgement], int]) -> Ints:
        return np.fromiter(map(get, rows), dtype=np.int64, count=n)

    n_hits = column(lambda row: len(row.hit_ranks))
    ranks = np.fromiter(chain.from_iterable(row.hit_ranks for row in rows), dtype=np.int64, count=int(n_hits.sum()))
    return Hits(
        thread=np.repeat(np.arange(n), n_hits),
        rank=ranks,
        n_relevant=column(lambda row: row.n_relevant),
        n_reachable=column(lambda row: row.n_reachable),
        pool_size=column(lambda row: row.pool_size) if with_pool else None,
        n_unknown=column(lambda row: row.n_unknown),
        n_duplicate=column(lambda row: row.n_duplicate),
        missing=missing,
    )


def _flatten(rankings: Any) -> tuple[Ints, Ints]:
    """Places in one flat array, and how many each thread has."""
    if isinstance(rankings, np.ndarray) and rankings.ndim == 2:
        if not np.issubdtype(rankings.dtype, np.integer):
            raise ValueError(f"rankings must hold integers (places in the pool), found dtype {rankings.dtype}")
        n, m = rankings.shape
        return rankings.reshape(-1), np.full(n, m, dtype=np.int64)
    if hasattr(rankings, "combine_chunks"):  # an Arrow chunked array
        rankings = rankings.combine_chunks()
    if hasattr(rankings, "value_lengths"):  # an Arrow list array, fixed-size or not
        return rankings.flatten().to_numpy(zero_copy_only=False), np.asarray(rankings.value_lengths(), dtype=np.int64)
    lengths = np.fromiter(map(len, rankings), dtype=np.int64, count=len(rankings))
    flat = np.fromiter(chain.from_iterable(rankings), dtype=np.int64, count=int(lengths.sum()))
    return flat, lengths


def _relevance_mask(references: Any, width: int) -> npt.NDArray[np.bool_]:
    if isinstance(references, np.ndarray) and references.dtype == bool and references.ndim == 2:
        return references
    places, lengths = _flatten(references)
    if len(places) and (int(places.min()) < 0 or int(places.max()) >= width):
        raise ValueError(f"a relevant place lies outside its pool of at most {width} candidates")
    mask = np.zeros((len(lengths), width), dtype=bool)
    mask[np.repeat(np.arange(len(lengths)), lengths), places] = True
    return mask


def _check_places(places: Ints, lengths: Ints, sizes: Ints) -> None:
    if not len(places):
        return
    low = int(places.min())
    if low < -1 or (places.max() >= sizes.min() and (places >= np.repeat(sizes, lengths)).any()):
        bad = np.flatnonzero((places < -1) | (places >= np.repeat(sizes, lengths)))[0]
        thread = int(np.searchsorted(np.cumsum(lengths), bad, side="right"))
        raise ValueError(
            f"ranking {thread} names place {int(places[bad])}, expected 0 to {int(sizes[thread]) - 1} "
            "(or -1 for an answer that names no candidate)"
        )


def _length(values: Sequence[Any] | None, default: int) -> int:
    return default if values is None else len(values)


def _check_lengths(**lengths: int) -> None:
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{name} has {count}" for name, count in lengths.items())
        raise ValueError(f"one entry per thread is expected in each argument: {found}")
