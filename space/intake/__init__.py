"""The door: what somebody sends becomes a submission, or a list of what is wrong with it; nothing is stored here."""

from __future__ import annotations

from .form import Form
from .refusal import IntakeError
from .take import Taken, take

__all__ = ["Form", "IntakeError", "Taken", "take"]
