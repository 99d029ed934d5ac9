"""Time to score rankings of places in the pool, relative to the bare array operations behind it.

    python -m benchmarks places [--threads 100000] [--rounds 7]

The floor, on an integer array of shape (threads, 100): gather the relevance of every ranked candidate, sort every
ranking (to see repeats), and sum the hits up to every rank.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from musicrs_metric.hits import hits_from_indices
from musicrs_metric.measures import DEFAULT_K
from musicrs_metric.scoring import thread_table

from .scoring import N_CANDIDATES, N_RELEVANT
from .side_by_side import Contender, compare

Ints = npt.NDArray[np.int64]
Input = tuple[Ints, Ints]


def make(threads: int) -> Input:
    """Random rankings of the places 0 to 99, and ten relevant places per thread."""
    rng = np.random.default_rng(0)
    ranking, relevant = (np.argsort(rng.random((threads, N_CANDIDATES)), axis=1) for _ in range(2))
    return ranking, np.ascontiguousarray(relevant[:, :N_RELEVANT])


def as_mask(made: Input) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """Relevance as one flag per candidate."""
    ranking, relevant = made
    mask = np.zeros(ranking.shape, dtype=bool)
    np.put_along_axis(mask, relevant, values=True, axis=1)
    return ranking, mask


def as_arrow(made: Input, type_of: Callable[[Any, int], Any]) -> tuple[Any, Any]:
    """Both as Arrow lists of 32-bit integers."""
    import pyarrow

    ranking, relevant = (
        pyarrow.FixedSizeListArray.from_arrays(places.astype(np.int32).reshape(-1), places.shape[1]).cast(
            type_of(pyarrow, places.shape[1])
        )
        for places in made
    )
    return ranking, relevant


def gather_sort_sum(prepared: tuple[Ints, npt.NDArray[np.bool_]]) -> tuple[Ints, Ints]:
    """The floor."""
    ranking, mask = prepared
    return np.sort(ranking, axis=1), np.cumsum(np.take_along_axis(mask, ranking, axis=1), axis=1)


def score_all(prepared: tuple[Any, Any]) -> object:
    """This project: every measure for every thread, with chance and ceiling."""
    return thread_table(hits_from_indices(*prepared, N_CANDIDATES), DEFAULT_K)


def main(argv: Sequence[str] | None = None) -> None:
    """Print the ratios.

    Args:
        argv: `--threads N` and `--rounds N`.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks places")
    parser.add_argument("--threads", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args(argv)
    fixed = partial(as_arrow, type_of=lambda arrow, m: arrow.list_(arrow.int32(), m))
    ragged = partial(as_arrow, type_of=lambda arrow, _: arrow.list_(arrow.int32()))
    contenders = [
        Contender("floor: numpy gather, sort, cumulative sum", gather_sort_sum, as_mask),
        Contender("musicrs_metric, numpy and flags", score_all, as_mask),
        Contender("musicrs_metric, numpy and places", score_all),
        Contender("musicrs_metric, Arrow FixedSizeList", score_all, fixed),
        Contender("musicrs_metric, Arrow List", score_all, ragged),
    ]
    compare(
        f"{arguments.threads:,} threads x {N_CANDIDATES} places to all measures, {arguments.rounds} rounds",
        contenders,
        partial(make, arguments.threads),
        rounds=arguments.rounds,
        targets=dict.fromkeys([contender.name for contender in contenders[1:]], 2.0),
    )


if __name__ == "__main__":
    main()
