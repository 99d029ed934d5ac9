"""A submission: what somebody sent, as it is stored; its scores are computed from it and never stored in it."""

from __future__ import annotations

from dataclasses import dataclass, field

from musicrs_metric.runs.predictions import Prediction
from musicrs_metric.runs.run_card import RunCard


@dataclass(frozen=True, kw_only=True)
class SubmissionEntry:
    """What is known of a submission without its predictions, which fill a thousand times the memory.

    Attributes:
        key: sha256 in hexadecimal over name, modality, data and predictions: what is sent twice is one submission.
        card: What the system is; of a form, made from its fields. Its name is text from outside, as is all else in it.
        link: The system's page, https; None where none was given.
        description: A few words on it; may be empty.
        partial: Whether threads are missing and the sender said so.
        received_at: Time of arrival, ISO 8601 in UTC.
        predictions_hash: sha256 of the predictions, computed when the file is read and not stored; empty before.
    """

    key: str
    card: RunCard
    link: str | None = None
    description: str = ""
    partial: bool = False
    received_at: str
    predictions_hash: str = field(default="", compare=False)


@dataclass(frozen=True, kw_only=True)
class Submission(SubmissionEntry):
    """A submission that the validator has passed.

    Attributes:
        predictions: One per thread, sorted by thread id; without the scores of the ranked items, which no board reads.
    """

    predictions: tuple[Prediction, ...]
