"""A row of the board: a submission and what was computed from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from musicrs_metric.compare.results import Standing
from musicrs_metric.compare.systems import System
from musicrs_metric.hits import Bools
from musicrs_metric.runs.predictions import Outcome
from musicrs_metric.scoring import Scores, ThreadTable

from ..submission import SubmissionEntry


@dataclass(frozen=True, kw_only=True)
class Judged:
    """What is computed from one submission alone, whoever else is on the board.

    Attributes:
        scores: Means with chance, ceiling and interval, and the same by genre.
        table: The same measures thread by thread, in dataset order.
        no_audio: Shape (n,): threads for which the system says that it had no audio.
        outcomes: Threads per outcome, counted from the predictions; those that state none under None.
        answered: Mean share of each thread's ranking that the system itself filled; None where it does not say.
    """

    scores: Scores
    table: ThreadTable
    no_audio: Bools
    outcomes: Mapping[Outcome | None, int]
    answered: float | None


@dataclass(frozen=True, kw_only=True)
class SubmissionRow:
    """A row.

    Attributes:
        entry: What was sent, without the predictions (`space.board.board.Board.submission` has them).
        label: What the page calls it; no two rows share it.
        design: Name of the pools that it ranked.
        judged: What was computed from its predictions.
        standings: Metric to rank, rank group and verdict against chance, among the rows on the same pools that read
            the same.
        peers: Number of these rows, with this one.
        identical_to: Labels of the other rows with the same predictions on the same pools.
    """

    entry: SubmissionEntry
    label: str
    design: str
    judged: Judged
    standings: Mapping[str, Standing]
    peers: int = 1
    identical_to: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The submission's key, and the row's address on the page."""
        return self.entry.key

    @property
    def is_ranked(self) -> bool:
        """Whether there is another row to be ranked with; a row that is alone has no rank and no group."""
        return self.peers > 1

    @property
    def system(self) -> System:
        """The row as comparisons take it."""
        return System(self.label, self.judged.table, self.entry.card.reads, self.judged.no_audio)

    @property
    def scores(self) -> Scores:
        """Means with chance, ceiling and interval, and the same by genre."""
        return self.judged.scores

    @property
    def table(self) -> ThreadTable:
        """The same measures thread by thread, in dataset order."""
        return self.judged.table
