"""Build a submission from the bytes of an upload and the fields of a form."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from musicrs_metric.errors import count, show, some
from musicrs_metric.matching import Pool
from musicrs_metric.runs.predictions import (
    PREDICTIONS,
    Fault,
    Prediction,
    PredictionError,
    PredictionFile,
    read_prediction_lines,
)

from ..board.data import LeaderboardData, PoolDesign
from ..settings import Limits
from ..store.files import key_of, sorted_predictions
from ..submission import Submission
from .form import JudgedForm, SubmissionForm, judge_form
from .refusal import IntakeError
from .unpack import lines_of


class Taken(NamedTuple):
    """A valid submission, not yet stored.

    Attributes:
        submission: The submission.
        warnings: Contradictions of form and run card, and lines that were skipped, in words.
    """

    submission: Submission
    warnings: tuple[str, ...]


def take(
    upload: bytes,
    form: SubmissionForm,
    data: LeaderboardData,
    limits: Limits,
    *,
    card: bytes | None = None,
    link: str = "",
    now: datetime | None = None,
) -> Taken:
    """Check an upload and its fields.

    Args:
        upload: The prediction file: JSON lines, plain, or packed with gzip or zip.
        form: Fields that describe the system. A field that is filled in counts more than that of the run card.
        data: Pool designs of the leaderboard.
        limits: Largest sizes.
        card: Content of `run.json`; None without one.
        link: Page of the system if neither form nor run card states one.
        now: Time of arrival; None for the current time.

    Returns:
        The submission. Scores in the file are not read.

    Raises:
        IntakeError: Lists every fault of the form and of the file, as far as the file could be read.
    """
    refusals: list[PredictionError] = []
    judged: JudgedForm | None = None
    file: PredictionFile | None = None
    try:
        judged = judge_form(form, card, data, limits, link=link)
    except IntakeError as error:
        refusals.append(error)
    design = data.designs[0] if judged is None else judged.design
    try:
        file = read_prediction_lines(lines_of(upload, limits), PREDICTIONS, design.references)
        _check_for_leaderboard(file.predictions, design, limits, partial=judged is None or judged.partial)
    except PredictionError as error:
        refusals.append(error)
    if judged is None or file is None or refusals:
        faults = [fault for refusal in refusals for fault in refusal.faults]
        raise IntakeError(faults, sum(refusal.n_faults for refusal in refusals))
    predictions = sorted_predictions(file.predictions)
    submission = Submission(
        key=key_of(judged.card, predictions),
        card=judged.card,
        link=judged.link,
        code_link=judged.code_link,
        description=judged.description,
        partial=len(predictions) < len(design.references),
        received_at=(now or datetime.now(UTC)).isoformat(timespec="microseconds"),
        predictions=predictions,
    )
    return Taken(submission, (*judged.warnings, *file.warnings))


def _check_for_leaderboard(
    predictions: tuple[Prediction, ...], design: PoolDesign, limits: Limits, *, partial: bool
) -> None:
    """Check the conditions of a leaderboard that a file for `musicrs-metric score` need not meet."""
    faults = [
        Fault(PREDICTIONS, None, "ranking", prediction.thread_id, problem)
        for prediction in predictions
        if (problem := _too_much(prediction, design, limits)) is not None
    ]
    predicted = {prediction.thread_id for prediction in predictions}
    missing = [thread for thread in design.references.thread_ids if thread not in predicted]
    if missing and not partial:
        message = (
            f"no prediction for {count(len(missing), 'thread')} of {len(design.references)} ({some(missing)}); "
            "add them, or declare the submission partial, and they score 0"
        )
        faults.append(Fault(PREDICTIONS, None, "thread_id", None, message))
    if not faults and _all_unknown(predictions, design):
        titles = [title for prediction in predictions for title in prediction.ranking]
        message = (
            f"found {count(len(titles), 'title')} such as {show(titles[0])}, none of which is in the pool of its "
            "thread; copy the titles from the column candidates"
        )
        faults.append(Fault(PREDICTIONS, None, "ranking", None, message))
    if faults:
        raise IntakeError(faults)


def _all_unknown(predictions: tuple[Prediction, ...], design: PoolDesign) -> bool:
    """Return True if there are titles and none of them is in its pool. Stops at the first known title."""
    has_titles = False
    for prediction in predictions:
        pool = Pool(_pool_of(prediction, design))
        has_titles = has_titles or bool(prediction.ranking)
        if any(pool.resolve(title) is not None for title in prediction.ranking):
            return False
    return has_titles


def _too_much(prediction: Prediction, design: PoolDesign, limits: Limits) -> str | None:
    n, pool = len(prediction.ranking), len(_pool_of(prediction, design))
    most = pool + limits.beyond_pool
    if n > most:
        return (
            f"found {n:,} titles, expected at most {most:,}: its pool has {count(pool, 'candidate')}, and at most "
            f"{limits.beyond_pool} other titles may be in the ranking; remove the rest"
        )
    longest = max(map(len, prediction.ranking), default=0)
    if longest > limits.title:
        return f"found a title of {longest:,} characters, expected at most {limits.title:,}"
    return None


def _pool_of(prediction: Prediction, design: PoolDesign) -> Sequence[str]:
    return design.references.candidates[design.references.position[prediction.thread_id]]
