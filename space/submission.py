"""Submissions as they are stored. Scores are computed from a submission and never stored in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from musicrs_metric.runs.predictions import Prediction
from musicrs_metric.runs.run_card import RunCard


@dataclass(frozen=True, kw_only=True)
class Note:
    """Facts about a submission that were added later.

    Attributes:
        changed_at: Time of the last change, ISO 8601 in UTC; empty for no change.
        sender: User name of the signed-in sender; empty if unknown.
        show_sender: True if the sender agrees that the name is public.
        edits: Fields that the sender has changed, with their new values.
        reproduced_at: Time at which the owner has reproduced the predictions; empty if the owner has not.
        withdrawn_at: Time at which the sender has withdrawn the submission; empty for a submission that counts.
    """

    changed_at: str = ""
    sender: str = ""
    show_sender: bool = False
    edits: Mapping[str, str | None] = field(default_factory=dict)
    reproduced_at: str = ""
    withdrawn_at: str = ""


@dataclass(frozen=True, kw_only=True)
class SubmissionEntry:
    """A submission without its predictions, which need a thousand times the memory.

    Attributes:
        key: sha256 in hexadecimal over name, modality, data and predictions. The same content has the same key.
        card: The run card, built from the form if there was none. Its texts come from the submitter.
        link: Page of the system, https; None without one.
        code_link: Page of the code of the system, https; None without one.
        description: Short description, possibly empty.
        partial: True if threads are missing.
        received_at: Time of arrival, ISO 8601 in UTC.
        receipt_hash: sha256 of the receipt of its sender, in hexadecimal; empty for a submission without a receipt.
        note: Facts that were added later. Its edits are already applied to the other attributes.
        predictions_hash: sha256 of the predictions, computed when the file is read and not stored; empty before.
    """

    key: str
    card: RunCard
    link: str | None = None
    code_link: str | None = None
    description: str = ""
    partial: bool = False
    received_at: str
    receipt_hash: str = ""
    note: Note = Note()
    predictions_hash: str = field(default="", compare=False)

    @property
    def shown_sender(self) -> str | None:
        """User name of the sender, if it is known and the sender agrees to show it."""
        return (self.note.sender or None) if self.note.show_sender else None


@dataclass(frozen=True, kw_only=True)
class Submission(SubmissionEntry):
    """A valid submission.

    Attributes:
        predictions: One per thread, sorted by thread id, without the scores of the ranked titles.
    """

    predictions: tuple[Prediction, ...]
