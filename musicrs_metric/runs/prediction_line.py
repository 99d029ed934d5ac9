"""One line of a prediction file: its fields, its validator, and its faults."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from sys import float_info
from typing import Any, Literal, NamedTuple, get_args

from ..base.files import strict_json, to_json
from ..errors import UserError, count, is_unicode, plain, show, some
from ..matching import normalise

FAULTS_KEPT = 100

Outcome = Literal["ok", "repaired", "truncated", "refusal", "empty", "no_audio", "failed"]

FIELDS = ("thread_id", "ranking", "scores", "outcome", "n_answered")
# The keys that the authors' own scripts and common habit use for the same things.
_ALIASES = {"id": "thread_id", "name": "thread_id", "predicted": "ranking"}
EXPECTED = 'expected one object per line, {"thread_id": "t3_...", "ranking": ["best", "next", ...]}'
_A_THREAD = "the Reddit name of a thread, t3_..."
_A_RANKING = "a list of titles, best first"


@dataclass(frozen=True, slots=True)
class Prediction:
    """One line of `predictions.jsonl`.

    Attributes:
        thread_id: The thread.
        ranking: Candidates, best first.
        scores: One finite number per ranked item, if the system has them. They never change the order.
        outcome: How the answer came about; None if unknown.
        n_answered: Number of leading ranks that the system itself filled; None if unknown.
    """

    thread_id: str
    ranking: tuple[str, ...]
    scores: tuple[float, ...] | None = None
    outcome: Outcome | None = None
    n_answered: int | None = None

    @property
    def scores_contradict(self) -> bool:
        """Return whether a candidate has a higher score than one before it."""
        return self.scores is not None and any(later > earlier for earlier, later in pairwise(self.scores))


@dataclass(frozen=True, slots=True)
class Fault:
    """One reason why a prediction file is refused.

    Attributes:
        file: The file, as the user named it.
        line: Line number from 1; None for the whole file.
        field: The field at fault; None for the whole line.
        thread: The thread of the line; None if it could not be read.
        message: What was found and what was expected.
    """

    file: str
    line: int | None
    field: str | None
    thread: str | None
    message: str

    def __str__(self) -> str:
        where = self.file if self.line is None else f"{self.file}, line {self.line}"
        about = [f"thread {plain(self.thread)}"] if self.thread is not None else []
        about += [f"field {self.field!r}"] if self.field is not None else []
        return ": ".join([where, *([", ".join(about)] if about else []), self.message])


class PredictionError(UserError):
    """A prediction file that is refused.

    Args:
        faults: The faults in file order; at least one.
        n_faults: Number of all faults, if `faults` does not hold all.

    Attributes:
        faults: The first faults, at most `FAULTS_KEPT`.
        n_faults: Number of all faults.
    """

    def __init__(self, faults: Sequence[Fault], n_faults: int | None = None) -> None:
        self.faults = tuple(faults[:FAULTS_KEPT])
        self.n_faults = len(faults) if n_faults is None else n_faults
        more = self.n_faults - 1
        super().__init__(f"{self.faults[0]}" + (f" (and {count(more, 'more fault')})" if more else ""))


class Line(NamedTuple):
    """Content of one line of a prediction file.

    Attributes:
        prediction: The prediction; None if there is any fault.
        faults: At most one per field.
        unread: Keys that no field of a prediction has.
    """

    prediction: Prediction | None
    faults: list[Fault]
    unread: tuple[str, ...] = ()


def parse_line(text: str | bytes, *, file: str = "prediction", line: int | None = None) -> Line:
    """Read and validate one line on its own.

    Args:
        text: The line.
        file: Name for the faults.
        line: Line number for the faults.

    Returns:
        The prediction or the faults.
    """
    try:
        text = text if isinstance(text, str) else text.decode()
        record = strict_json(text)
    except UnicodeDecodeError as error:
        return Line(None, [Fault(file, line, None, None, f"not UTF-8 (byte {error.start + 1} of the line)")])
    except ValueError as error:
        return Line(None, _explain(str(text), error, file, line))
    if not isinstance(record, dict):
        return Line(None, [Fault(file, line, None, None, f"found {show(record)}; {EXPECTED}")])
    values, faults = _judge(record, file, line)
    if faults:
        return Line(None, faults)
    scores = values.get("scores")
    prediction = Prediction(
        thread_id=values["thread_id"],
        ranking=tuple(values["ranking"]),
        scores=None if scores is None else tuple(scores),
        outcome=values.get("outcome"),
        n_answered=values.get("n_answered"),
    )
    return Line(prediction, [], tuple(key for key in record if key not in FIELDS and key not in _ALIASES))


def prediction_fields(prediction: Prediction) -> dict[str, Any]:
    """Return the fields of a prediction that are not None, in the order of a line. They are not checked."""
    pairs = ((name, getattr(prediction, name)) for name in FIELDS)
    return {name: value for name, value in pairs if value is not None}


def check_prediction(prediction: Prediction) -> None:
    """Refuse a prediction that no file may hold.

    Args:
        prediction: The prediction.

    Raises:
        PredictionError: The validator would refuse its line.
    """
    values = prediction_fields(prediction)
    problems = list(_problems(values, list(values)))
    if problems:
        raise PredictionError([Fault("prediction", None, name, prediction.thread_id, text) for name, text in problems])


def format_line(prediction: Prediction) -> str:
    """Write a prediction as one line, with its line feed. Fields that are None are omitted.

    Args:
        prediction: The prediction.

    Raises:
        PredictionError: The validator would refuse the line.
    """
    check_prediction(prediction)
    return to_json(prediction_fields(prediction)) + "\n"


def _explain(text: str, error: ValueError, file: str, line: int | None) -> list[Fault]:
    """Explain why a line is not JSON. If NaN or Infinity is the only reason, name the field that holds it."""
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        record = None
    faults = _judge(record, file, line)[1] if isinstance(record, dict) else []
    reason = f"{error.msg}, character {error.pos + 1}" if isinstance(error, json.JSONDecodeError) else str(error)
    return faults or [Fault(file, line, None, None, f"not JSON ({reason})")]


def _judge(record: dict[str, Any], file: str, line: int | None) -> tuple[dict[str, Any], list[Fault]]:
    values, problems = _by_field(record)
    for name, problem in _problems(values, list(record)):
        problems.setdefault(name, problem)
    thread = values.get("thread_id")
    thread = thread if isinstance(thread, str) else None
    return values, [Fault(file, line, name, thread, problem) for name, problem in problems.items()]


def _by_field(record: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Replace aliases by the names of the fields. Two names of one field must agree. Null means absent."""
    values: dict[str, Any] = {name: record[name] for name in FIELDS if name in record}
    problems: dict[str, str] = {}
    for alias, name in _ALIASES.items():
        if alias in record and values.setdefault(name, record[alias]) != record[alias]:
            problems[name] = (
                f"found {show(values[name])} and, as {alias!r}, {show(record[alias])}; expected one of them"
            )
    return {name: value for name, value in values.items() if value is not None}, problems


def _problems(values: dict[str, Any], keys: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the faults of the fields of one prediction, at most one per field."""
    found = f"the keys {some([show(key) for key in keys])}" if keys else "no keys"
    for name, expected in (("thread_id", _A_THREAD), ("ranking", _A_RANKING)):
        if name not in values:
            yield name, f"missing or null, found {found}; expected {expected}"
    thread, ranking = values.get("thread_id"), values.get("ranking")
    if thread is not None and not (isinstance(thread, str) and thread.strip() and is_unicode(thread)):
        yield "thread_id", f"found {show(thread)}, expected {_A_THREAD}"
    if ranking is not None:
        problem = _ranking_problem(ranking)
        if problem:
            yield "ranking", problem
    length = len(ranking) if isinstance(ranking, list | tuple) else None
    if "scores" in values:
        problem = _scores_problem(values["scores"], length)
        if problem:
            yield "scores", problem
    outcomes = get_args(Outcome)
    if "outcome" in values and values["outcome"] not in outcomes:
        yield "outcome", f"found {show(values['outcome'])}, expected one of {', '.join(outcomes)}"
    n = values.get("n_answered")
    is_integer = isinstance(n, int) and not isinstance(n, bool)
    if n is not None and (not is_integer or n < 0 or (length is not None and n > length)):
        limit = "" if length is None else f" to {length} (the length of the ranking)"
        yield "n_answered", f"found {show(n)}, expected an integer from 0{limit}"


def _ranking_problem(ranking: Any) -> str | None:
    if not isinstance(ranking, list | tuple):
        return f"found {show(ranking)}, expected {_A_RANKING}"
    for position, item in enumerate(ranking, 1):
        if not isinstance(item, str):
            return f"item {position} is {show(item)}, expected text"
        # Only what starts with neither letter nor digit can be blank, and most titles start with one.
        if not item[:1].isalnum() and not normalise(item).strip():
            return f"item {position} is {show(item)}, which names nothing; expected a title"
    if not is_unicode("".join(ranking)):
        return "holds half a surrogate pair, which no file can store; expected Unicode text"
    return None


def _scores_problem(scores: Any, length: int | None) -> str | None:
    if not isinstance(scores, list | tuple):
        return f"found {show(scores)}, expected a list of finite numbers"
    for position, value in enumerate(scores, 1):
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not abs(value) <= float_info.max:  # false for NaN as well
            return f"item {position} is {show(value)}, expected a finite number"
    if length is not None and len(scores) != length:
        return f"found {len(scores)} scores, expected one per item of the ranking ({length})"
    return None
