"""Intake: turns what a submitter sends into a submission or into a list of faults. Nothing is stored here."""

from __future__ import annotations

from .form import SubmissionForm, judge_edits
from .refusal import IntakeError
from .take import Taken, take

__all__ = ["IntakeError", "SubmissionForm", "Taken", "judge_edits", "take"]
