"""Submissions as they are stored. Scores are computed from a submission and never stored in it."""

from __future__ import annotations

from dataclasses import dataclass, field

from musicrs_metric.runs.predictions import Prediction
from musicrs_metric.runs.run_card import RunCard


@dataclass(frozen=True, kw_only=True)
class SubmissionEntry:
    """A submission without its predictions, which need a thousand times the memory.

    Attributes:
        key: sha256 in hexadecimal over name, modality, data and predictions. The same content has the same key.
        card: The run card, built from the form if there was none. Its texts come from the submitter.
        link: Page of the system, https; None without one.
        description: Short description, possibly empty.
        partial: True if threads are missing.
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
    """A valid submission.

    Attributes:
        predictions: One per thread, sorted by thread id, without the scores of the ranked titles.
    """

    predictions: tuple[Prediction, ...]
