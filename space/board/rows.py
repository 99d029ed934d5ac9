"""Rows of submissions: a submission with the values that were computed from it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from musicrs_metric.compare.results import Standing
from musicrs_metric.compare.standings import Alone
from musicrs_metric.compare.systems import System
from musicrs_metric.hits import Bools
from musicrs_metric.runs.predictions import Outcome
from musicrs_metric.scoring import Scores, ThreadTable

from ..submission import SubmissionEntry


@dataclass(frozen=True, kw_only=True)
class Judged:
    """Values that are computed from one submission alone, without the other rows.

    Attributes:
        scores: Means with chance, ceiling and interval, overall and by genre.
        table: The same measures per thread, in dataset order.
        units: The same per row that intervals and tests draw: per dialogue if the threads are turns.
        no_audio: Shape (n,): True for threads for which the system states that it had no audio.
        outcomes: Number of threads per outcome, with None for predictions that state none.
        answered: Mean share of each ranking that the system gave itself; None if it does not state it.
        alone: Verdict against chance and the draws of its rank, on all threads.
    """

    scores: Scores
    table: ThreadTable
    units: ThreadTable
    no_audio: Bools
    outcomes: Mapping[Outcome | None, int]
    answered: float | None
    alone: Alone

    @cached_property
    def ranks_hash(self) -> str:
        """Hash of the ranks of the relevant titles. Rows with the same one score the same in every thread."""
        hits, digest = self.table.hits, hashlib.sha256()
        for values in (hits.thread, hits.rank, hits.missing):
            digest.update(np.ascontiguousarray(values).tobytes() + b"|")
        return digest.hexdigest()


@dataclass(frozen=True, kw_only=True)
class SubmissionRow:
    """A row of a submission.

    Attributes:
        entry: The submission without its predictions (`space.board.board.Board.submission` has them).
        label: Name on the page. No two rows have the same.
        design: Name of the pool design that it ranked.
        judged: Values that were computed from its predictions.
        standings: Measure to rank, rank group and verdict against chance, among the rows on the same pools that read
            the same.
        peers: Number of the ranked rows among these.
        identical_to: Labels of the other rows whose relevant titles have the same ranks in every thread.
        other_data: Statement that the predictions were made on another version of the data; None if they were not.
        unranked: Reason why the row is not ranked: it is partial, a control run, or identical to an earlier row. None
            for a ranked row.
    """

    entry: SubmissionEntry
    label: str
    design: str
    judged: Judged
    standings: Mapping[str, Standing]
    peers: int = 1
    identical_to: tuple[str, ...] = ()
    unranked: str | None = None
    other_data: str | None = None

    @property
    def key(self) -> str:
        """Key of the submission, and of the row in URLs of the page."""
        return self.entry.key

    @property
    def is_ranked(self) -> bool:
        """True if it takes part in the ranking and has a peer. Without peers there is no rank and no group."""
        return self.peers > 1 and self.unranked is None

    @property
    def system(self) -> System:
        """The row in the form that comparisons take."""
        judged = self.judged
        no_audio = judged.no_audio if judged.units is judged.table else None
        return System(self.label, judged.units, self.entry.card.reads, no_audio)

    @property
    def scores(self) -> Scores:
        """Means with chance, ceiling and interval, overall and by genre."""
        return self.judged.scores

    @property
    def table(self) -> ThreadTable:
        """The same measures per thread, in dataset order."""
        return self.judged.table
