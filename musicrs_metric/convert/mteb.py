"""Predictions of mteb (`prediction_folder`): scores of the candidates of each thread, by ids of titles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..base.files import strict_json
from ..errors import UserError, count, plain, show, some
from ..runs.prediction_line import Prediction
from ..runs.references import References
from ..runs.run_card import Modality
from .rankings import Rankings, text_of, title_id
from .scored import number

_META = "mteb_model_meta"
_SPLIT = "test"
_FORM = 'expected {"mteb_model_meta": {...}, "query_only": {"test": {"t3_...": {"docid": score}}}}'
MODALITIES: tuple[Modality, ...] = ("query_only", "audio_only", "audio_query")


def read(path: Path, references: References) -> Rankings:
    """Read the predictions of one task, `<Task>_predictions.json`. Scores decide, and ids break ties, as in mteb.

    Args:
        path: The file, or the folder that holds one such file.
        references: The dataset whose layout mteb ran on (`python -m musicrs_dataset mteb`).

    Returns:
        The rankings. The facts are those of mteb's description of the model.

    Raises:
        UserError: The file has another form, or was made on other threads or pools.
    """
    path = _file(path)
    try:
        data = strict_json(text_of(path))
    except UserError:
        raise
    except ValueError as error:
        raise UserError(f"{path}: not JSON ({error}); {_FORM}") from None
    subsets = {name: value for name, value in data.items() if name != _META} if isinstance(data, dict) else {}
    if len(subsets) != 1 or not isinstance(next(iter(subsets.values())), dict):
        raise UserError(f"{path}: found {count(len(subsets), 'subset')} ({some(list(subsets))}), expected one; {_FORM}")
    ((subset, splits),) = subsets.items()
    if not isinstance(splits.get(_SPLIT), dict):
        raise UserError(f"{path}: no split {_SPLIT!r} in {plain(subset)}; {_FORM}")
    predictions = [_ranked(thread, scores, path, references) for thread, scores in splits[_SPLIT].items()]
    facts = _facts(data.get(_META)) | {"settings": {"mteb_subset": subset}}
    if subset in MODALITIES:
        facts |= {"modality": subset, "config": subset}
    absent = len(references) - len(predictions)
    notes = [f"{count(absent, 'thread')} not in the file; mteb drops threads with an empty ground truth."] * (
        absent > 0
    )
    return Rankings(predictions, facts, notes)


def _file(path: Path) -> Path:
    if not path.is_dir():
        return path
    files = sorted(path.glob("*_predictions.json"))
    if len(files) != 1:
        names = f" ({some([file.name for file in files])})" if files else ""
        raise UserError(f"{path}: found {count(len(files), 'file')} *_predictions.json{names}, expected one; name it")
    return files[0]


def _ranked(thread: str, scores: Any, path: Path, references: References) -> Prediction:
    where = f"{path}, thread {plain(thread)}"
    position = references.position.get(thread)
    if position is None:
        raise UserError(f"{where}: not in dataset {references.name}; expected the dataset that mteb ran on")
    if not isinstance(scores, dict):
        raise UserError(f"{where}: found {show(scores)}; {_FORM}")
    titles = {title_id(title): title for title in references.candidates[position]}
    strangers = [identity for identity in scores if identity not in titles]
    if strangers:
        raise UserError(
            f"{where}: {count(len(strangers), 'id')} of no candidate of the thread, such as {show(strangers[0])}; "
            "expected the pools that mteb ran on (--config names other pools)"
        )
    values = {identity: number(score, f"{where}, {identity}") for identity, score in scores.items()}
    ordered = sorted(values, key=lambda identity: (values[identity], identity), reverse=True)
    return Prediction(thread, tuple(titles[i] for i in ordered), tuple(values[i] for i in ordered))


def _facts(meta: Any) -> dict[str, Any]:
    """Return the fields of the run card that mteb's description of a model states."""
    facts: dict[str, Any] = {"paradigm": "retrieval", "reads": "thread"}
    if not isinstance(meta, dict):
        return facts
    name = meta.get("name") or meta.get("model_name")
    if isinstance(name, str) and name and not name.startswith("no_model_name"):
        facts |= {"name": name.rsplit("/", 1)[-1], "model_id": name}
    for field, key, kind in (
        ("model_revision", "revision", str), ("licence", "license", str), ("open_weights", "open_weights", bool),
    ):  # fmt: skip
        if isinstance(meta.get(key), kind):
            facts[field] = meta[key]
    return facts
