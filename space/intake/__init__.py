"""The door: what somebody sends becomes a submission, or a list of what is wrong with it; nothing is stored here."""

from __future__ import annotations

from .form import SubmissionForm
from .refusal import IntakeError
from .take import Taken, take

__all__ = ["IntakeError", "SubmissionForm", "Taken", "take"]
