"""What is sent to a leaderboard: a prediction file that the validator has passed, and what is said of the system."""

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
class Parcel:
    """A submission, ready to be sent.

    Attributes:
        predictions: The prediction file as it stands on disk.
        card: The fields of its run card, with what was said beside it.
        n: Threads with a prediction.
        warnings: What the validator set aside, in words.
    """

    predictions: bytes
    card: dict[str, Any]
    n: int
    warnings: tuple[str, ...]


def pack(run: str | Path, said: Mapping[str, Any], references: References | None = None) -> Parcel:
    """Check a run as the board will, and pack it.

    Args:
        run: The prediction file, or the run folder that holds it and perhaps `run.json`.
        said: Fields that are said beside the run card; those that are None are not said. They count more than the card.
        references: The dataset, if threads and data are to be checked as well; else the board alone checks them.

    Returns:
        The parcel.

    Raises:
        PredictionError: The prediction file is refused.
        UserError: The card cannot be read, a field is missing, or threads are and nobody said so.
    """
    found = read_run(run, references)
    card = {} if found.card is None else _fields(found.card)
    card |= {name: value for name, value in said.items() if value is not None}
    missing = [name for name in _NEEDED if not card.get(name)]
    if missing:
        options = " ".join(f"--{name}" for name in missing)
        raise UserError(
            f"{run}: no run.json says {', '.join(missing)} of the system; write one beside the predictions, or give "
            f"{options}"
        )
    predictions = found.predictions
    if references is not None and not card.get("partial"):
        given = {prediction.thread_id for prediction in predictions.predictions}
        absent = [thread for thread in references.thread_ids if thread not in given]
        if absent:
            raise UserError(
                f"{predictions.path}: no prediction for {count(len(absent), 'thread')} of {len(references)} "
                f"({some(absent)}); a board takes that with --partial only, and they score 0"
            )
    return Parcel(predictions.path.read_bytes(), card, len(predictions.predictions), predictions.warnings)


def _fields(card: RunCard) -> dict[str, Any]:
    values = asdict(card)
    extra = values.pop("extra")
    return {name: value for name, value in (extra | values).items() if value not in (None, {})}
