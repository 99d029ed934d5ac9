"""One thread as every system ranked it, read when somebody looks at it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from musicrs_metric.errors import UserError, show
from musicrs_metric.matching import Pool
from musicrs_metric.runs.predictions import Prediction

from .board import Board
from .data import PoolDesign
from .rows import SubmissionRow


class Ranked(NamedTuple):
    """How one system ranked a thread.

    Attributes:
        row: The system.
        prediction: What it answered; None where it gave no prediction.
    """

    row: SubmissionRow
    prediction: Prediction | None


def rankings_of(
    board: Board, thread_id: str, design: str | None = None, keys: Sequence[str] | None = None
) -> list[Ranked]:
    """How systems ranked one thread.

    Args:
        board: The board.
        thread_id: The thread.
        design: Name of the pools; None for the first.
        keys: The rows that are wanted, in that order; None for all. Those that the board does not have are left out.

    Raises:
        UserError: There is no such design, or no such thread in it.
    """
    pools = board.data.design(design)
    place(pools, thread_id)
    rows = board.snapshot().of(pools.name)
    if keys is not None:
        by_key = {row.key: row for row in rows}
        rows = tuple(by_key[key] for key in dict.fromkeys(keys) if key in by_key)
    return [Ranked(row, board.store.prediction(row.key, thread_id)) for row in rows]


def place(design: PoolDesign, thread_id: str) -> int:
    """The place of a thread in its dataset, from 0.

    Raises:
        UserError: There is no such thread.
    """
    found = design.references.position.get(thread_id)
    if found is None:
        example = design.references.thread_ids[0]
        raise UserError(f"thread {show(thread_id)}: not in this data; a thread is called like {example}")
    return found


def relevant_places(design: PoolDesign, thread_id: str) -> set[int]:
    """The places in its pool of what the community recommended in a thread."""
    i = place(design, thread_id)
    pool = Pool(design.references.candidates[i])
    places = (pool.resolve(title) for title in design.references.ground_truth[i])
    return {found for found in places if found is not None}
