"""From the bytes of an upload and the fields of a form to a submission."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple

from musicrs_metric.errors import count, some
from musicrs_metric.runs.predictions import (
    PREDICTIONS,
    Fault,
    Prediction,
    PredictionError,
    PredictionFile,
    read_prediction_lines,
)

from ..board.data import Data, Design
from ..settings import Limits
from ..store.files import key_of, sorted_predictions
from ..submission import Submission
from .form import Form, Said, judge_form
from .refusal import IntakeError
from .unpack import lines_of


class Taken(NamedTuple):
    """A submission that may be stored.

    Attributes:
        submission: What is stored.
        warnings: What was set aside while reading, in words.
    """

    submission: Submission
    warnings: tuple[str, ...]


def take(
    upload: bytes, form: Form, data: Data, limits: Limits, *, card: bytes | None = None, now: datetime | None = None
) -> Taken:
    """Judge what was sent.

    Args:
        upload: The prediction file: JSON lines, packed with gzip or in a zip or not.
        form: What is said of the system.
        data: The board's data.
        limits: What is taken at most.
        card: Content of `run.json`, whose fields count more than the form's; None where there is none.
        now: When it came in; None for this moment.

    Returns:
        The submission; scores that stand in the file are not read.

    Raises:
        IntakeError: Every fault of the form and of the file, as far as the file could be read.
    """
    refusals: list[PredictionError] = []
    said: Said | None = None
    found: PredictionFile | None = None
    try:
        said = judge_form(form, card, data, limits)
    except IntakeError as error:
        refusals.append(error)
    design = data.designs[0] if said is None else said.design
    try:
        found = read_prediction_lines(lines_of(upload, limits), PREDICTIONS, design.references)
        _check_for_board(found, design, limits, partial=said is None or said.partial)
    except PredictionError as error:
        refusals.append(error)
    if said is None or found is None or refusals:
        faults = [fault for refusal in refusals for fault in refusal.faults]
        raise IntakeError(faults, sum(refusal.n_faults for refusal in refusals))
    predictions = sorted_predictions(found.predictions)
    submission = Submission(
        key=key_of(said.card, predictions),
        card=said.card,
        link=said.link,
        description=said.description,
        partial=len(predictions) < len(design.references),
        received_at=(now or datetime.now(UTC)).isoformat(timespec="microseconds"),
        predictions=predictions,
    )
    return Taken(submission, found.warnings)


def _check_for_board(found: PredictionFile, design: Design, limits: Limits, *, partial: bool) -> None:
    """Ask for what a board asks for more than a file that is scored at home."""
    faults = [
        Fault(PREDICTIONS, None, "ranking", prediction.thread_id, problem)
        for prediction in found.predictions
        if (problem := _too_much(prediction, limits)) is not None
    ]
    given = {prediction.thread_id for prediction in found.predictions}
    missing = [thread for thread in design.references.thread_ids if thread not in given]
    if missing and not partial:
        message = (
            f"no prediction for {count(len(missing), 'thread')} of {len(design.references)} ({some(missing)}); "
            "add them, or declare the submission partial, and they score 0"
        )
        faults.append(Fault(PREDICTIONS, None, "thread_id", None, message))
    if faults:
        raise IntakeError(faults)


def _too_much(prediction: Prediction, limits: Limits) -> str | None:
    if len(prediction.ranking) > limits.ranking:
        return f"found {len(prediction.ranking):,} titles, expected at most {limits.ranking:,}"
    longest = max(map(len, prediction.ranking), default=0)
    if longest > limits.title:
        return f"found a title of {longest:,} characters, expected at most {limits.title:,}"
    return None
