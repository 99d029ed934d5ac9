"""Store of submissions: one file per submission, named by its hash, in a folder or in a repository on the Hub."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol

from musicrs_metric.runs.predictions import Prediction

from ..submission import Submission, SubmissionEntry
from .notes import Notes

__all__ = ["Receipt", "SetAside", "Store"]


class Receipt(NamedTuple):
    """Receipt for a submission.

    Attributes:
        key: Key of the submission.
        state: "stored": it is in the results store. "queued": it is on the local disk only, and will be committed.
            "already": the same submission was stored before.
    """

    key: str
    state: Literal["stored", "queued", "already"]


class SetAside(NamedTuple):
    """A stored file that is no submission. The leaderboard ignores it, and the leaderboard owner sees it.

    Attributes:
        file: Name of the file.
        reason: Its fault, in words.
    """

    file: str
    reason: str


class SubmissionStore(Protocol):
    """Keeps submissions. Safe to use from many threads and processes at once."""

    @property
    def notes(self) -> Notes:
        """Facts about submissions that change after their arrival. `entries` has applied them."""
        ...

    def put(self, submission: Submission) -> Receipt:
        """Keep a submission. Once this returns, a crash does not lose it."""
        ...

    def entries(self) -> Sequence[SubmissionEntry]:
        """List the submissions without their predictions, in the order of arrival."""
        ...

    def get(self, key: str) -> Submission | None:
        """Return one submission with its predictions; None if the key is unknown or its file is set aside."""
        ...

    def prediction(self, key: str, thread_id: str) -> Prediction | None:
        """Return the prediction of one submission for one thread, without reading the others; None if there is none."""
        ...

    def withdraw(self, key: str, reason: str) -> None:
        """Take a submission off the leaderboard. Its file is kept in another folder, with the reason."""
        ...

    def is_withdrawn(self, key: str) -> bool:
        """Return True if a submission was on the leaderboard and is no longer."""
        ...

    def set_aside(self) -> Sequence[SetAside]:
        """List the files that `entries` leaves out."""
        ...

    def problem(self) -> str | None:
        """State in words why submissions do not reach the results repository; None if they do."""
        ...
