"""JSON files of rankings: a dictionary from thread to ranking, or an array of predictions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import compress
from pathlib import Path
from typing import Any

from ..base.files import strict_json, to_json
from ..errors import UserError, plain, show
from ..runs.prediction_line import FIELDS, Prediction, PredictionError, parse_line, prediction_fields
from ..runs.references import References
from .rankings import Rankings, text_of
from .scored import by_score, number, rank_warning

FORM = (
    'expected an object {"t3_...": ["best", "next", ...], ...}, with scores {"t3_...": {"title": score, ...}, ...}, '
    'or an array of objects {"thread_id": "t3_...", "ranking": [...]}'
)


def read(path: Path, references: References) -> Rankings:
    """Read rankings from a JSON file.

    Args:
        path: The file. A ranking is a list of titles, a list of pairs (title, score), an object from title to score,
            or an object with the fields of a prediction.
        references: The dataset. Its pools decide the order of equal scores.

    Returns:
        The rankings, in the order of the file.

    Raises:
        UserError: The file is no JSON or has another form.
    """
    try:
        data = strict_json(text_of(path))
    except UserError:
        raise
    except ValueError as error:
        raise UserError(f"{path}: not JSON ({error}); {FORM}") from None
    return from_json(data, str(path), references)


def from_json(data: Any, place: str, references: References) -> Rankings:
    """Read rankings from plain JSON types.

    Args:
        data: See `read`.
        place: Name of the data in messages.
        references: The dataset.

    Raises:
        UserError: The data has another form.
    """
    notes: list[str] = []
    if isinstance(data, dict):
        predictions = [_of_thread(str(thread), value, place, references) for thread, value in data.items()]
        by_scores = (not (isinstance(value, dict) and "ranking" in value) for value in data.values())
        notes += rank_warning([*compress(predictions, by_scores)], place)
    elif isinstance(data, list):
        predictions = [_of_item(item, f"{place}, item {i}") for i, item in enumerate(data, 1)]
    else:
        raise UserError(f"{place}: found {show(data)}; {FORM}")
    return Rankings(predictions, {}, notes)


def lines(predictions: Iterable[Prediction]) -> Iterator[str]:
    """Yield a JSON object from thread to its list of titles, one thread per line."""
    start = "{\n"
    for prediction in predictions:
        yield f"{start}{to_json(prediction.thread_id)}: {to_json(list(prediction.ranking))}"
        start = ",\n"
    yield "{}\n" if start == "{\n" else "\n}\n"


def losses(predictions: Iterable[Prediction]) -> Iterator[str]:
    """Name the fields that a dictionary of rankings cannot hold."""
    fields = dict.fromkeys(name for prediction in predictions for name in prediction_fields(prediction))
    lost = [name for name in fields if name not in FIELDS[:2]]
    if lost:
        yield f"A dictionary holds rankings alone, and not {', '.join(lost)}; --to parquet or --to run keeps all."


def _of_thread(thread: str, value: Any, place: str, references: References) -> Prediction:
    where = f"{place}, thread {plain(thread)}"
    if isinstance(value, dict) and "ranking" in value and isinstance(value["ranking"], list):
        return _of_item({"thread_id": thread} | value, place)
    if isinstance(value, list) and value and all(isinstance(item, list) and len(item) == 2 for item in value):
        value = _without_repeats(value, where)
    if isinstance(value, dict):
        scores = [number(score, f"{where}, {plain(title)}") for title, score in value.items()]
        titles, ordered = by_score(list(value), scores, thread, references)
        return Prediction(thread, tuple(titles), tuple(ordered))
    if not isinstance(value, list):
        raise UserError(f"{where}: found {show(value)}; {FORM}")
    return _of_item({"thread_id": thread, "ranking": value}, place)


def _without_repeats(pairs: list[list[Any]], where: str) -> dict[str, Any]:
    """Return pairs of title and score as an object."""
    scores: dict[str, Any] = {}
    for title, score in pairs:
        if not isinstance(title, str):
            raise UserError(f"{where}: found {show(title)} in place of a title, expected pairs [title, score]")
        if title in scores:
            raise UserError(f"{where}: {plain(title)} has two scores, expected one")
        scores[title] = score
    return scores


def _of_item(item: Any, where: str) -> Prediction:
    """Validate one prediction as the reader of prediction files does."""
    prediction, faults, _ = parse_line(to_json(item), file=where)
    if prediction is None:
        raise PredictionError(faults)
    return prediction
