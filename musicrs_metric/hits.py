"""Judged rankings of many threads as flat arrays, from which every measure is computed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .inputs import string_lists
from .matching import Judgement, judge_in_pool, judge_without_pool

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

UNKNOWN = -1
"""The position of a title that names no candidate."""


@dataclass(frozen=True)
class Hits:
    """Hits of the rankings of n threads.

    Attributes:
        thread: Shape (h,): position of the thread of each hit, ascending.
        rank: Shape (h,): rank of each hit, 1 = best, ascending within a thread.
        n_relevant: Shape (n,): distinct relevant items, in the pool or not.
        n_reachable: Shape (n,): relevant items that the pool holds; equal to `n_relevant` without pools.
        pool_size: Shape (n,): distinct candidates, or None without pools.
        n_unknown: Shape (n,): ranked strings that name no candidate; 0 without pools.
        n_duplicate: Shape (n,): ranked strings that name a candidate for a second time.
        missing: Shape (n,), bool: threads without any prediction.
    """

    thread: Ints
    rank: Ints
    n_relevant: Ints
    n_reachable: Ints
    pool_size: Ints | None
    n_unknown: Ints
    n_duplicate: Ints
    missing: Bools

    def __len__(self) -> int:
        return len(self.n_relevant)


def hits_from_strings(
    rankings: Sequence[Sequence[str] | None],
    references: Sequence[Sequence[str]],
    candidates: Sequence[Sequence[str]] | None = None,
) -> Hits:
    """Judge rankings of strings; see `musicrs_metric.matching` for the rule.

    Args:
        rankings: One list of strings per thread, best first; None without a prediction.
        references: The relevant strings per thread; may be empty.
        candidates: The pool per thread, or None to match against the references alone.

    Returns:
        The hits, threads in the order given.

    Raises:
        ValueError: The three sequences differ in length, or hold something other than lists of strings.
    """
    n = len(rankings)
    _check_lengths(rankings=n, references=len(references), candidates=n if candidates is None else len(candidates))
    answers: list[Sequence[str]] = [() if ranking is None else ranking for ranking in rankings]
    columns = (answers, references) if candidates is None else (answers, references, candidates)
    if any(issubclass(kind, str) for column in columns for kind in set(map(type, column))):
        _refuse(*columns)  # a bare string would be ranked letter by letter
    judge: Callable[..., Judgement] = judge_without_pool if candidates is None else judge_in_pool
    # Two flat lists in place of a list of judgements: n more objects would set off a garbage collection, which walks
    # through all the input and takes half as long as judging it.
    found: list[bytes] = []
    counts: list[int] = []
    try:
        for row in zip(*columns, strict=True):
            judgement = judge(*row)
            found.append(judgement.found)
            counts += judgement[1:]
    except TypeError:
        _refuse(*columns)
        raise
    n_relevant, n_reachable, pool_size, n_unknown, n_duplicate = np.array(counts, dtype=np.int64).reshape(n, 5).T
    return Hits(
        *_thread_and_rank(np.frombuffer(b"".join(found), dtype=bool), _lengths(found)),
        n_relevant,
        n_reachable,
        None if candidates is None else pool_size,
        n_unknown,
        n_duplicate,
        missing=np.fromiter((ranking is None for ranking in rankings), dtype=bool, count=n),
    )


def hits_from_indices(
    rankings: Any,
    references: Any,
    pool_sizes: int | Sequence[int] | Ints,
) -> Hits:
    """Judge rankings of positions in the pool. This is ten times faster than judging strings.

    Args:
        rankings: Integer array of shape (n, m), or a (possibly ragged) Arrow list array or sequence of sequences:
            positions in the thread's pool, best first. -1 is a title that names no candidate. Null or None instead of
            a list is a thread without a prediction.
        references: Boolean array of shape (n, p), true for relevant candidates; or the positions of the relevant
            candidates of each thread, in any form that `rankings` may have.
        pool_sizes: Candidates per thread, or one number for all.

    Returns:
        The hits. A repeated position keeps its first rank, and later ranks close up.

    Raises:
        ValueError: Lengths differ, a value is no integer, or a position is outside the pool.
    """
    ranked, missing = _flatten("rankings", rankings)
    n = len(missing)
    sizes: Ints = np.asarray(pool_sizes, dtype=np.int64)
    if sizes.ndim == 0:
        sizes = np.full(n, sizes)
    _check_lengths(rankings=n, references=len(references), pool_sizes=len(sizes))
    _check_places("rankings", ranked, sizes, lowest=UNKNOWN)
    is_relevant, n_relevant = _relevance(references, sizes)
    # The pools form one row of cells, end to end. A last cell represents titles that name no candidate.
    cells, lengths = _cells(ranked, sizes), ranked.lengths
    nowhere = len(is_relevant) - 1
    n_unknown, n_duplicate = _count(cells == nowhere, lengths), np.zeros(n, dtype=np.int64)
    if _any_repeat(cells, nowhere):
        repeats = _repeats(cells, nowhere)
        n_duplicate = _count(repeats, lengths)
        cells, lengths = cells[~repeats], lengths - n_duplicate
    thread, rank = _thread_and_rank(is_relevant[cells], lengths)
    return Hits(thread, rank, n_relevant, n_relevant, sizes, n_unknown, n_duplicate, missing)


class _Lists(NamedTuple):
    """Lists of positions, one per thread, end to end."""

    places: Ints
    lengths: Ints


def _relevance(references: Any, pool_sizes: Ints) -> tuple[Bools, Ints]:
    """Return one flag per cell, and the number of set flags per pool."""
    if isinstance(references, np.ndarray) and references.dtype == bool:
        if (pool_sizes == references.shape[1]).all():
            return np.append(references, False), np.count_nonzero(references, axis=1)
        lists = _Lists(np.nonzero(references)[1], np.count_nonzero(references, axis=1))
    else:
        lists, _ = _flatten("references", references)
    _check_places("references", lists, pool_sizes, lowest=0)
    flags = np.zeros(int(pool_sizes.sum()) + 1, dtype=bool)
    flags[_cells(lists, pool_sizes)] = True
    return flags, _count(flags, pool_sizes)


def _cells(lists: _Lists, pool_sizes: Ints) -> Ints:
    ends = np.cumsum(pool_sizes)
    cells: Ints = lists.places + np.repeat(ends - pool_sizes, lists.lengths)
    cells[lists.places == UNKNOWN] = ends[-1] if len(ends) else 0
    return cells


def _any_repeat(cells: Ints, nowhere: int) -> bool:
    seen = np.zeros(nowhere + 1, dtype=bool)
    seen[cells] = True
    return bool(np.count_nonzero(seen[:nowhere]) < np.count_nonzero(cells != nowhere))


def _repeats(cells: Ints, nowhere: int) -> Bools:
    """Flag the cells that occur earlier in the row. The cell of unknown titles is never a repeat."""
    order = np.arange(len(cells))
    first = np.full(nowhere + 1, len(cells))
    np.minimum.at(first, cells, order)
    repeats: Bools = (order > first[cells]) & (cells != nowhere)
    return repeats


def _thread_and_rank(found: Bools, lengths: Ints) -> tuple[Ints, Ints]:
    """Return thread and rank of each hit, from one flag per rank of rankings of these lengths, end to end."""
    hits = np.flatnonzero(found)
    thread = _owner(hits, lengths)
    return thread, hits - (np.cumsum(lengths) - lengths)[thread] + 1


def _owner(positions: Ints, lengths: Ints) -> Ints:
    """Return the list that each position belongs to, for lists of these lengths, end to end."""
    return np.searchsorted(np.cumsum(lengths), positions, side="right")


def _count(flags: Bools, lengths: Ints) -> Ints:
    """Count the set flags of each list. Flags after the last list are not counted."""
    n = len(lengths)
    return np.bincount(_owner(np.flatnonzero(flags), lengths), minlength=n)[:n]


def _flatten(name: str, lists: Any) -> tuple[_Lists, Bools]:
    """Put lists of positions end to end, and flag the lists that are null."""
    if isinstance(lists, np.ndarray) and lists.ndim == 2:
        places, lengths = lists.reshape(-1), np.full(len(lists), lists.shape[1])
        missing = np.zeros(len(lists), dtype=bool)
    elif hasattr(lists, "combine_chunks") or hasattr(lists, "value_lengths"):  # Arrow lists, chunked or not
        whole = lists.combine_chunks() if hasattr(lists, "combine_chunks") else lists
        places = whole.flatten().to_numpy(zero_copy_only=False)
        lengths = np.asarray(whole.value_lengths().fill_null(0), dtype=np.int64)
        missing = np.asarray(whole.is_null())
    else:
        rows = [() if row is None else row for row in lists]
        if not all(isinstance(row, Iterable) for row in rows):
            raise ValueError(f"{name} must hold one list of positions per thread")
        places, lengths = np.asarray(list(chain.from_iterable(rows))), _lengths(rows)
        missing = np.fromiter((row is None for row in lists), dtype=bool, count=len(rows))
    if not len(places):
        places = np.zeros(0, dtype=np.int64)
    if places.dtype.kind not in "iu":
        raise ValueError(f"{name} must hold integers, the positions of candidates in their pool; found {places.dtype}")
    if places.dtype.kind == "u":  # unsigned plus signed 64-bit integers would make floats
        places = places.astype(np.int64)
    return _Lists(places, lengths), missing


def _lengths(lists: Sequence[Sequence[Any]]) -> Ints:
    return np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))


def _refuse(rankings: Any, references: Any, candidates: Any = ()) -> None:
    for name, column in (("rankings", rankings), ("references", references), ("candidates", candidates)):
        string_lists(name, column)


def _check_places(name: str, lists: _Lists, pool_sizes: Ints, *, lowest: int) -> None:
    places, lengths = lists
    if not len(places) or (places.min() >= lowest and places.max() < pool_sizes.min()):
        return
    outside = np.flatnonzero((places < lowest) | (places >= np.repeat(pool_sizes, lengths)))
    if len(outside):
        thread = int(_owner(outside[:1], lengths)[0])
        or_unknown = " (or -1 for a title that names no candidate)" if lowest == UNKNOWN else ""
        raise ValueError(
            f"{name}[{thread}] names position {places[outside[0]]}, expected 0 to {pool_sizes[thread] - 1}{or_unknown}"
        )


def _check_lengths(**lengths: int) -> None:
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{name} has {count}" for name, count in lengths.items())
        raise ValueError(f"one entry per thread is expected in each argument: {found}")
