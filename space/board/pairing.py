"""Two rows against each other, thread by thread, and what a second modality brings to one system."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Sequence
from threading import Lock
from typing import NamedTuple

from musicrs_metric.compare import HEADLINE, Comparison, compare
from musicrs_metric.errors import UserError, plain, show

from .board import Board
from .rows import Row

_KEPT = 256


class Gain(NamedTuple):
    """What a system gains from being given both the request and the clips.

    Attributes:
        name: The system.
        both: Its row with both.
        single: Its row with one of them.
    """

    name: str
    both: Row
    single: Row


class Pairing:
    """Compares two rows; the last comparisons are kept.

    Args:
        board: The board.
    """

    def __init__(self, board: Board) -> None:
        self.board = board
        self._lock = Lock()
        self._kept: OrderedDict[tuple[str, ...], Comparison] = OrderedDict()

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
        what = (a.key, a.label, b.key, b.label)
        with self._lock:
            if what in self._kept:
                self._kept.move_to_end(what)
                return self._kept[what]
        groups = {"genre": self.board.data.design(a.design).references.groups["genre"]}
        made = compare([a.system, b.system], HEADLINE, groups=groups)
        with self._lock:
            self._kept[what] = made
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return made

    def _row(self, key: str) -> Row:
        row = self.board.row(key)
        if row is None:
            raise UserError(f"found no row {show(key)} on the board; it may have been taken away")
        return row


def modality_gains(rows: Sequence[Row]) -> list[Gain]:
    """Find the systems that were run both with one modality and with both.

    Args:
        rows: Rows of one design. Of several with one name and modality, the last to come in stands for it.

    Returns:
        One entry for each single modality of each system that has a row with both, by name.
    """
    by_name: dict[str, dict[str, Row]] = defaultdict(dict)
    for row in rows:
        by_name[row.entry.card.name][row.entry.card.modality] = row
    return [
        Gain(name, of["audio_query"], of[single])
        for name, of in sorted(by_name.items())
        for single in ("query_only", "audio_only")
        if "audio_query" in of and single in of
    ]
