"""Submissions to a leaderboard: a checked run with its fields, and its pull request to a results repository."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..base.files import to_json
from ..base.hub_errors import commit_files
from ..errors import UserError, count, some
from ..runs.predictions import PREDICTIONS
from ..runs.read import read_run
from ..runs.references import References
from ..runs.run_card import RUN_CARD, RunCard

INBOX = "inbox"  # folder of the pull requests; the leaderboard takes the runs that the owner has merged
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
            f"{run}: no run.json states {', '.join(missing)} of the system; give {options}, or write one with "
            "`python -m musicrs_metric card`"
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


def inbox_files(bundle: Bundle) -> dict[str, bytes]:
    """Return the files of a run in the inbox. The same run has the same path.

    Args:
        bundle: The run.

    Returns:
        Path to content.
    """
    card = f"{to_json(bundle.card, indent=2)}\n".encode()
    digest = hashlib.sha256(card + bundle.predictions).hexdigest()[:12]
    name = re.sub("[^a-z0-9]+", "-", str(bundle.card["name"]).lower()).strip("-")[:40]
    folder = f"{INBOX}/{name or 'run'}-{digest}"
    return {f"{folder}/{PREDICTIONS}": bundle.predictions, f"{folder}/{RUN_CARD}": card}


def open_pull_request(repo: str, bundle: Bundle) -> str:
    """Open a pull request that adds a run to a results repository.

    Args:
        repo: The dataset repository.
        bundle: The run.

    Returns:
        The URL of the pull request.

    Raises:
        UserError: The Hub refuses it, or cannot be reached.
    """
    return commit_files(repo, inbox_files(bundle), f"Submission: {bundle.card['name']}"[:80], repo_type="dataset")
