"""Comparison of two rows thread by thread, and the gain of a second modality."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from musicrs_metric.compare import HEADLINE, Comparison, compare
from musicrs_metric.errors import UserError, plain, show

from .board import Board
from .rows import SubmissionRow


class Gain(NamedTuple):
    """A system that was run with both modalities and with one of them.

    Attributes:
        name: The system.
        both: Its row with query and audio.
        single: Its row with one of them.
    """

    name: str
    both: SubmissionRow
    single: SubmissionRow


class Pairing:
    """Compares two rows, and keeps the last comparisons.

    Args:
        board: The leaderboard.
    """

    def __init__(self, board: Board) -> None:
        self.board = board

    def __call__(self, first: str, second: str) -> Comparison:
        """Compare two rows on the same pools, in the same way as `musicrs-metric compare`.

        Args:
            first: Key of the row to subtract from.
            second: Key of the row to subtract.

        Returns:
            The paired differences on recall@20, ndcg@20 and mrr with intervals, also by genre. The comparison covers
            these two rows only. Nothing is corrected for the other rows of the leaderboard.

        Raises:
            UserError: A key has no row, both keys are the same, or the rows are on different pools.
        """
        a, b = (self._row(key) for key in (first, second))
        if a.key == b.key:
            raise UserError(f"{plain(a.label)} was chosen twice; choose two different rows")
        if a.design != b.design:
            raise UserError(
                f"{plain(a.label)} ranked the pools {a.design}, {plain(b.label)} the pools {b.design}; "
                "only rows on the same pools can be compared"
            )
        groups = {"genre": self.board.data.design(a.design).genre_of_units}
        return self.board.cached(
            ("comparison", a.key, a.label, b.key, b.label),
            lambda: compare([a.system, b.system], HEADLINE, groups=groups),
            by_state=False,
        )

    def _row(self, key: str) -> SubmissionRow:
        row = self.board.row(key)
        if row is None:
            raise UserError(f"found no row {show(key)} on the leaderboard; it may have been removed")
        return row


def modality_gains(rows: Sequence[SubmissionRow]) -> list[Gain]:
    """Find the systems that were run with both modalities and with one of them.

    Args:
        rows: Rows on one pool design. Of several with the same name and modality, the last counts.

    Returns:
        One entry for each single modality of each system that has a row with both, by name.
    """
    by_name: dict[str, dict[str, SubmissionRow]] = defaultdict(dict)
    for row in rows:
        by_name[row.entry.card.name][row.entry.card.modality] = row
    return [
        Gain(name, rows_of["audio_query"], rows_of[single])
        for name, rows_of in sorted(by_name.items())
        for single in ("query_only", "audio_only")
        if "audio_query" in rows_of and single in rows_of
    ]
