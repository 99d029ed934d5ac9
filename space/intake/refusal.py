"""What a sender is told when a submission is not taken."""

from __future__ import annotations

from musicrs_metric.runs.predictions import Fault, PredictionError

FORM = "form"


class IntakeError(PredictionError):
    """A submission that is refused, with all that is wrong with it.

    Attributes:
        faults: Each with the file, or the form, and the line, thread and field that it is about.
        n_faults: How many there are in all.
    """


def at_field(field: str, message: str, *, place: str = FORM) -> Fault:
    """A fault in one field of the form, or of the run card."""
    return Fault(place, None, field, None, message)
