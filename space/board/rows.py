"""A row of the board."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from musicrs_metric.compare.results import Standing
from musicrs_metric.scoring import Scores, ThreadTable

from ..submission import Submission


@dataclass(frozen=True, kw_only=True)
class Row:
    """A submission with what was computed from it.

    Attributes:
        submission: What was sent.
        label: What the page calls it; no two rows share it.
        scores: Means with chance, ceiling and interval, and the same by genre.
        table: The same measures thread by thread, in dataset order.
        standings: Metric to rank, rank group and verdict against chance, among the rows on the same pools that read
            the same.
    """

    submission: Submission
    label: str
    scores: Scores
    table: ThreadTable
    standings: Mapping[str, Standing]

    @property
    def key(self) -> str:
        """The submission's key, and the row's address on the page."""
        return self.submission.key
