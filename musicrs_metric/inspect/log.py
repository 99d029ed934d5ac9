"""Logs of Inspect as runs: the rankings of the scorer, and the facts for a run card."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..convert.rankings import Rankings
from ..errors import UserError, count, plain, some
from ..runs.predictions import Prediction
from ..runs.references import References

_SCORER = "ranking"


def read(path: str | Path, references: References) -> Rankings:
    """Read a log of one of the tasks of this package.

    Args:
        path: The log, `.eval` or `.json`, or a folder that holds one log.
        references: The dataset that the log was made on.

    Returns:
        The rankings, one per thread that has a score, in the order of the log, with the facts of a run card. Of several
        epochs, the first is taken. A sample that ended with an error has no prediction.

    Raises:
        UserError: inspect_ai is not installed, the file is no log of these tasks, or it was made on other data.
    """
    log, facts = _log(path, header_only=False)
    if references.fingerprint != facts["fingerprint"]:
        raise UserError(
            f"{path}: made on data with the fingerprint {facts['fingerprint']}; {references.name}, {references.config} "
            f"has {references.fingerprint}; name the dataset of the log"
        )
    samples = log.samples or []
    predictions = [
        prediction
        for sample in samples
        if sample.epoch == 1 and (prediction := _prediction(sample, str(path))) is not None
    ]
    outcomes = dict(sorted(Counter(prediction.outcome or "ok" for prediction in predictions).items()))
    card = {
        "name": log.eval.model,
        "paradigm": "generative",
        "modality": facts["modality"],
        "dataset": references.name,
        "config": facts["config"],
        "fingerprint": facts["fingerprint"],
        "reads": "thread",
        "model_id": log.eval.model,
        "pools": facts["pools"],
        "protocol": facts["protocol"],
        "prompt_hash": facts["prompt_hash"],
        "seed": facts["seed"],
        "created_at": log.stats.completed_at or log.eval.created,
        "outcomes": outcomes,
        "settings": log.eval.model_generate_config.model_dump(exclude_none=True, mode="json"),
        "extra": {"inspect": {"task_version": str(log.eval.task_version), "packages": dict(log.eval.packages)}},
    }
    if facts["modality"] != "query_only":
        card["clip_plan"] = f"up to {facts['seconds']:g} s of a thread, shared evenly by its clips, each from its start"
    return Rankings(predictions, card, _warnings(predictions, samples, references.thread_ids))


def config_of_log(path: str | Path) -> str:
    """Return the configuration of the dataset that a log was made on.

    Args:
        path: The log, or a folder that holds one log.

    Raises:
        UserError: See `read`.
    """
    return str(_log(path, header_only=True)[1]["config"])


def _log(path: str | Path, *, header_only: bool) -> tuple[Any, dict[str, Any]]:
    try:
        from inspect_ai.log import read_eval_log
    except ImportError as error:
        raise UserError(f"{path}: a log of Inspect needs inspect_ai; run pip install 'musicrs[inspect]'") from error
    if Path(path).is_dir():
        logs = sorted(Path(path).glob("*.eval"))
        if len(logs) != 1:
            raise UserError(f"{path}: found {count(len(logs), 'log')} in this folder, expected one; name the file")
        (path,) = logs
    try:
        log = read_eval_log(str(path), header_only=header_only)
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise UserError(f"{path}: not a log of Inspect ({reason}); expected a file .eval or .json") from error
    facts = (log.eval.metadata or {}).get("musicrs")
    if not isinstance(facts, dict):
        raise UserError(
            f"{path}: a log of the task {plain(log.eval.task)}; expected a task of musicrs_metric, such as "
            "musicrs_metric/query_only"
        )
    return log, facts


def _prediction(sample: Any, path: str) -> Prediction | None:
    score = (sample.scores or {}).get(_SCORER)
    if score is None:
        return None
    details = score.metadata or {}
    if not isinstance(details.get("ranking"), list):
        raise UserError(f"{path}: sample {plain(sample.id)} has no ranking; the log was scored by another version")
    return Prediction(
        str(sample.id), tuple(details["ranking"]), outcome=details.get("outcome"), n_answered=details.get("n_answered")
    )


def _warnings(predictions: list[Prediction], samples: Iterable[Any], thread_ids: Iterable[str]) -> list[str]:
    answered = {prediction.thread_id for prediction in predictions}
    missing = [thread_id for thread_id in thread_ids if thread_id not in answered]
    warnings = []
    if missing:
        threads = count(len(missing), "thread")
        warnings.append(f"Warning: {threads} without a score in the log, which score 0: {some(missing)}.")
    if (epochs := max((sample.epoch for sample in samples), default=1)) > 1:
        warnings.append(f"Warning: the log has {epochs} epochs; the run holds the rankings of the first.")
    return warnings
