"""Submissions to a leaderboard: a checked prediction file and the fields that describe the system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..errors import UserError, count, some
from ..runs.read import read_run
from ..runs.references import References
from ..runs.run_card import RunCard

_NEEDED = ("name", "modality", "paradigm", "reads")


@dataclass(frozen=True)
class Bundle:
    """A submission, ready to send.

    Attributes:
        predictions: The bytes of the prediction file.
        card: The fields of its run card, and those given as options.
        n: Threads with a prediction.
        warnings: Lines that the validator set aside.
    """

    predictions: bytes
    card: dict[str, Any]
    n: int
    warnings: tuple[str, ...]


def build_bundle(run: str | Path, given: Mapping[str, Any], references: References | None = None) -> Bundle:
    """Check a run as the leaderboard will, and bundle it.

    Args:
        run: The prediction file, or the run folder that holds it and perhaps `run.json`.
        given: Fields that replace those of the run card. None: not given.
        references: The dataset, to check threads and data here, too. Without it only the leaderboard checks them.

    Returns:
        The bundle.

    Raises:
        PredictionError: The prediction file is refused.
        UserError: The card cannot be read, a field is missing, or threads are missing without `partial`.
    """
    files = read_run(run, references)
    card = {} if files.card is None else _fields(files.card)
    card |= {name: value for name, value in given.items() if value is not None}
    missing = [name for name in _NEEDED if not card.get(name)]
    if missing:
        options = " ".join(f"--{name}" for name in missing)
        raise UserError(
            f"{run}: no run.json states {', '.join(missing)} of the system; write one next to the predictions, or "
            f"give {options}"
        )
    predictions = files.predictions
    if references is not None and not card.get("partial"):
        predicted = {prediction.thread_id for prediction in predictions.predictions}
        absent = [thread for thread in references.thread_ids if thread not in predicted]
        if absent:
            raise UserError(
                f"{predictions.path}: no prediction for {count(len(absent), 'thread')} of {len(references)} "
                f"({some(absent)}); give --partial to submit it; they score 0"
            )
    return Bundle(predictions.path.read_bytes(), card, len(predictions.predictions), predictions.warnings)


def _fields(card: RunCard) -> dict[str, Any]:
    values = asdict(card)
    extra = values.pop("extra")
    return {name: value for name, value in (extra | values).items() if value not in (None, {})}
