"""Refusals of submissions."""

from __future__ import annotations

from musicrs_metric.runs.predictions import Fault, PredictionError

FORM = "form"


class IntakeError(PredictionError):
    """A refused submission with all its faults.

    Attributes:
        faults: Each with its file, or the form, and its line, thread and field.
        n_faults: Total number of faults.
    """


def at_field(field: str, message: str, *, place: str = FORM) -> Fault:
    """Return a fault in one field of the form or of the run card."""
    return Fault(place, None, field, None, message)
