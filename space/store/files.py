"""File format of a submission: one line with its fields, then its predictions, one line per thread.

The name of the file is the key of the submission, and the key is a hash of its content. A damaged or edited file is
therefore recognised, and two submitters with different content never write to the same file.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from musicrs_metric.base.files import strict_json, to_json
from musicrs_metric.errors import UserError, is_unicode, show
from musicrs_metric.runs.predictions import Prediction, format_line, parse_line
from musicrs_metric.runs.run_card import RunCard, card_from_values

from ..submission import Submission, SubmissionEntry

SUFFIX = ".jsonl"
VERSION = 1
_KEY = re.compile("[0-9a-f]{64}")
_FIELDS = {"key": str, "card": dict, "link": str | None, "description": str, "partial": bool, "received_at": str}
_OPTIONAL = {"code_link": str, "receipt_hash": str}  # written only if they have a value


class StoredFileError(UserError):
    """A stored file that is no submission."""


def key_of(card: RunCard, predictions: Iterable[Prediction]) -> str:
    """Return the key of a submission: sha256 over its name, modality, data and predictions.

    Args:
        card: Its run card.
        predictions: At most one per thread, in any order.

    Returns:
        64 hexadecimal digits.
    """
    return _key(card, _sha256(_lines(predictions)))


def is_key(text: str) -> bool:
    """Return True if a text has the form of a key, and may become part of a file name."""
    return _KEY.fullmatch(text) is not None


def file_name(key: str) -> str:
    """Return the file name of a submission.

    Raises:
        ValueError: `key` is no key. Nothing else ever becomes a path.
    """
    if not is_key(key):
        raise ValueError(f"found {show(key)}, expected 64 hexadecimal digits")
    return f"{key}{SUFFIX}"


def to_bytes(submission: Submission) -> bytes:
    """Return the content of the file of a submission."""
    values = {name: getattr(submission, name) for name in _FIELDS if name != "card"}
    values |= {name: value for name in _OPTIONAL if (value := getattr(submission, name))}
    values = {"version": VERSION, **values, "card": asdict(submission.card)}
    return f"{to_json(values)}\n".encode() + _lines(submission.predictions)


def read_entry(content: bytes, name: str) -> SubmissionEntry:
    """Read the fields of a submission, after a check that its file is intact.

    Args:
        content: The whole file.
        name: Its name.

    Returns:
        The entry. The predictions are hashed, not parsed.

    Raises:
        StoredFileError: The file is damaged, was edited, or has the name of another submission.
    """
    head, _, rest = content.partition(b"\n")
    try:
        values = strict_json(head.decode())
        if not isinstance(values, dict) or values.pop("version", None) != VERSION:
            raise StoredFileError(f"{name}: its first line is not that of a submission of version {VERSION}")
        entry = _entry(values)
    except StoredFileError:
        raise
    except (ValueError, LookupError, TypeError) as error:
        raise StoredFileError(f"{name}: cannot be read ({error})") from error
    entry = replace(entry, predictions_hash=_sha256(rest))
    key = _key(entry.card, entry.predictions_hash)
    if entry.key != key:
        raise StoredFileError(f"{name}: is damaged or was edited: its content does not have the hash that it states")
    if name != file_name(key):
        raise StoredFileError(f"{name}: has the name of another submission, expected {file_name(key)}")
    return entry


def read_submission(content: bytes, name: str) -> Submission:
    """Read a submission with its predictions.

    Args:
        content: The whole file.
        name: Its name.

    Raises:
        StoredFileError: As for `read_entry`, or a prediction is invalid.
    """
    entry = read_entry(content, name)
    predictions = []
    for number, line in enumerate(content.split(b"\n")[1:-1], 2):
        prediction, faults, _ = parse_line(line, file=name, line=number)
        if prediction is None:
            raise StoredFileError(str(faults[0]))
        predictions.append(prediction)
    fields = {field: getattr(entry, field) for field in (*_FIELDS, *_OPTIONAL)}
    return Submission(**fields, predictions=tuple(predictions))


def find_prediction(content: bytes, thread_id: str) -> Prediction | None:
    """Find the prediction of one thread without parsing the others.

    Args:
        content: The whole file of a submission.
        thread_id: The thread.

    Returns:
        The prediction; None if there is none, or if its line is damaged.
    """
    # JSON text has no line feed, so this is the start of a line and never a part of a title.
    start = content.find(b'\n{"thread_id": %s,' % to_json(thread_id).encode())
    if start < 0:
        return None
    return parse_line(content[start + 1 : content.find(b"\n", start + 1)]).prediction


def sorted_predictions(predictions: Iterable[Prediction]) -> tuple[Prediction, ...]:
    """Return predictions in their stored form: by thread id, without the scores of the ranked titles."""
    stored = (replace(prediction, scores=None) for prediction in predictions)
    return tuple(sorted(stored, key=lambda prediction: prediction.thread_id))


def _lines(predictions: Iterable[Prediction]) -> bytes:
    return "".join(map(format_line, sorted_predictions(predictions))).encode()


def _key(card: RunCard, predictions_hash: str) -> str:
    return _sha256(to_json([card.name, card.modality, card.fingerprint, predictions_hash]).encode())


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _entry(values: dict[str, Any]) -> SubmissionEntry:
    for name, kind in _FIELDS.items():
        if name not in values or not isinstance(values[name], kind):
            raise ValueError(f"field {name!r} is missing or of another type")
    optional = {name: values[name] for name in _OPTIONAL if name in values}
    for name, value in optional.items():
        if not isinstance(value, _OPTIONAL[name]):
            raise ValueError(f"field {name!r} is of another type")
    if not is_unicode(to_json(values)):
        raise ValueError("has half a surrogate pair, which no page can show")
    datetime.fromisoformat(values["received_at"])
    card = dict(values["card"])
    card |= card.pop("extra", {})
    required = {name: values[name] for name in _FIELDS}
    return SubmissionEntry(**required | optional | {"card": card_from_values(card)})
