"""Rankings of one thread by all systems, read when a user opens the thread."""

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
    """Ranking of a thread by one system.

    Attributes:
        row: The system.
        prediction: Its prediction; None if it gave none.
    """

    row: SubmissionRow
    prediction: Prediction | None


def rankings_of(
    board: Board, thread_id: str, design: str | None = None, keys: Sequence[str] | None = None
) -> list[Ranked]:
    """Return the rankings of one thread.

    Args:
        board: The leaderboard.
        thread_id: The thread.
        design: Name of the pool design; None for the first.
        keys: Rows to return, in this order; None for all. Unknown keys are left out.

    Raises:
        UserError: There is no such pool design, or it has no such thread.
    """
    pools = board.data.design(design)
    place(pools, thread_id)
    rows = board.snapshot().of(pools.name)
    if keys is not None:
        by_key = {row.key: row for row in rows}
        rows = tuple(by_key[key] for key in dict.fromkeys(keys) if key in by_key)
    return [Ranked(row, board.store.prediction(row.key, thread_id)) for row in rows]


def place(design: PoolDesign, thread_id: str) -> int:
    """Return the position of a thread in its dataset, from 0.

    Raises:
        UserError: There is no such thread.
    """
    position = design.references.position.get(thread_id)
    if position is None:
        example = design.references.thread_ids[0]
        raise UserError(f"thread {show(thread_id)}: not in this data; the ids look like {example}")
    return position


def relevant_places(design: PoolDesign, thread_id: str) -> set[int]:
    """Return the positions in the pool of the relevant candidates of a thread."""
    i = place(design, thread_id)
    pool = Pool(design.references.candidates[i])
    positions = (pool.resolve(title) for title in design.references.ground_truth[i])
    return {position for position in positions if position is not None}
