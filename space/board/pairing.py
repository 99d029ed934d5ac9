"""Two rows against each other, thread by thread, and what a second modality brings to one system."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from musicrs_metric.compare import HEADLINE, Comparison, compare
from musicrs_metric.errors import UserError, plain, show

from .board import Board
from .lru import StateCache
from .rows import SubmissionRow

_KEPT = 256


class Gain(NamedTuple):
    """What a system gains from being given both the request and the clips.

    Attributes:
        name: The system.
        both: Its row with both.
        single: Its row with one of them.
    """

    name: str
    both: SubmissionRow
    single: SubmissionRow


class Pairing:
    """Compares two rows; the last comparisons are kept.

    Args:
        board: The board.
    """

    def __init__(self, board: Board) -> None:
        self.board = board
        self._comparisons: StateCache[Comparison] = StateCache(_KEPT)

    def __call__(self, first: str, second: str) -> Comparison:
        """Compare two rows on the same pools, as `musicrs-metric compare` does.

        Args:
            first: Key of the row to subtract from.
            second: Key of the row to subtract.

        Returns:
            The paired differences on recall@20, ndcg@20 and mrr, with intervals, and by genre. It is about these two
            alone: nothing is corrected for the other rows of the board.

        Raises:
            UserError: A key without a row, the same row twice, or rows on different pools.
        """
        a, b = (self._row(key) for key in (first, second))
        if a.key == b.key:
            raise UserError(f"{plain(a.label)} was chosen twice; choose two different rows to compare")
        if a.design != b.design:
            raise UserError(
                f"{plain(a.label)} ranked the pools {a.design}, {plain(b.label)} the pools {b.design}; "
                "only rows on the same pools can be compared"
            )
        groups = {"genre": self.board.data.design(a.design).references.groups["genre"]}
        return self._comparisons.get(
            self.board.data,  # a comparison does not depend on the other rows
            (a.key, a.label, b.key, b.label),
            lambda: compare([a.system, b.system], HEADLINE, groups=groups),
        )

    def _row(self, key: str) -> SubmissionRow:
        row = self.board.row(key)
        if row is None:
            raise UserError(f"found no row {show(key)} on the board; it may have been taken away")
        return row


def modality_gains(rows: Sequence[SubmissionRow]) -> list[Gain]:
    """Find the systems that were run both with one modality and with both.

    Args:
        rows: Rows of one design. Of several with one name and modality, the last to come in stands for it.

    Returns:
        One entry for each single modality of each system that has a row with both, by name.
    """
    by_name: dict[str, dict[str, SubmissionRow]] = defaultdict(dict)
    for row in rows:
        by_name[row.entry.card.name][row.entry.card.modality] = row
    return [
        Gain(name, of["audio_query"], of[single])
        for name, of in sorted(by_name.items())
        for single in ("query_only", "audio_only")
        if "audio_query" in of and single in of
    ]
