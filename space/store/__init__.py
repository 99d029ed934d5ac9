"""Where submissions are kept: one file each, named by what is in it, in a folder or in a repository on the Hub."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol

from musicrs_metric.runs.predictions import Prediction

from ..submission import Submission, SubmissionEntry

__all__ = ["Receipt", "SetAside", "Store"]


class Receipt(NamedTuple):
    """What a sender is told.

    Attributes:
        key: The submission's key.
        state: "stored" once nothing but the loss of the store can lose it, "queued" while it is on this machine's disk
            alone and still has to reach the store, "already" where the very same was sent before.
    """

    key: str
    state: Literal["stored", "queued", "already"]


class SetAside(NamedTuple):
    """A stored file that is no submission, shown to the owner; it stays where it is, and the board does without it.

    Attributes:
        file: Its name.
        reason: What is wrong with it, in words.
    """

    file: str
    reason: str


class SubmissionStore(Protocol):
    """Keeps submissions; safe to use from many threads and processes at once."""

    def put(self, submission: Submission) -> Receipt:
        """Keep a submission; when this returns, a crash does not lose it."""
        ...

    def entries(self) -> Sequence[SubmissionEntry]:
        """What is kept, without the predictions, in the order in which it came in."""
        ...

    def get(self, key: str) -> Submission | None:
        """One submission with its predictions; None where there is none of that key, or its file is set aside."""
        ...

    def prediction(self, key: str, thread_id: str) -> Prediction | None:
        """What one submission predicts for one thread, without reading the rest of it; None where there is none."""
        ...

    def set_aside(self) -> Sequence[SetAside]:
        """The files that `entries` leaves out."""
        ...

    def problem(self) -> str | None:
        """Why submissions do not reach where they are to be kept, in words for the owner; None where they do."""
        ...
