"""Prediction files: writer, reader and validator.

A file holds one JSON object per line and thread, `{"thread_id": "t3_...", "ranking": ["best", "next", ...]}`, in any
order. A file with any fault is refused as a whole, and every fault is named. No part of such a file is scored.
"""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path

from ..base.files import replacing
from ..errors import UserError, count, plain, show, some
from .kinds import other_kind
from .prediction_line import (
    EXPECTED,
    FAULTS_KEPT,
    FIELDS,
    Fault,
    Line,
    Outcome,
    Prediction,
    PredictionError,
    format_line,
    parse_line,
)
from .references import References

__all__ = [
    "PREDICTIONS",
    "Fault",
    "Line",
    "Outcome",
    "Prediction",
    "PredictionError",
    "PredictionFile",
    "contradictions",
    "format_line",
    "parse_line",
    "rankings_for",
    "read_prediction_lines",
    "read_predictions",
    "write_predictions",
]

PREDICTIONS = "predictions.jsonl"

DATASET = "DATASET"  # the name of a dataset in a command, where it is unknown
_STRANGERS_SHOWN = 4
_FIRST_LINES = 20  # decide what kind of file it is
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class PredictionFile:
    """A prediction file that passed.

    Attributes:
        path: The file.
        predictions: One per thread, in file order.
        warnings: Messages about lines that were set aside, and about scores that contradict their ranking.
    """

    path: Path
    predictions: tuple[Prediction, ...]
    warnings: tuple[str, ...]


def write_predictions(path: str | Path, predictions: Iterable[Prediction]) -> None:
    """Write a prediction file in one step. The earlier file stays until the new one is complete.

    Args:
        path: The file to write.
        predictions: One per thread, in the order of the file.

    Raises:
        PredictionError: The validator would refuse the file.
    """
    written: set[str] = set()
    with replacing(path) as file:
        for prediction in predictions:
            file.write(format_line(prediction))
            if prediction.thread_id in written:
                message = "given twice, expected one prediction per thread"
                raise PredictionError([Fault(str(path), None, "thread_id", prediction.thread_id, message)])
            written.add(prediction.thread_id)


def read_predictions(path: str | Path, references: References | None = None) -> PredictionFile:
    """Read a prediction file, or refuse it with all its faults.

    Args:
        path: The file. Lines end with a line feed. Blank lines are skipped.
        references: The dataset, to check thread ids against it.

    Returns:
        The predictions.

    Raises:
        PredictionError: The file cannot be read, has a fault, or holds no prediction.
    """
    file = str(path)
    try:
        kind_of_file = os.stat(path).st_mode
        if not stat.S_ISREG(kind_of_file) and not stat.S_ISDIR(kind_of_file):
            # A pipe would wait for a writer, or be empty when the file is read again.
            raise _refusal(file, "is a pipe or a device; expected a regular file")
        with open(path, "rb") as lines:
            return read_prediction_lines(lines, file, references)
    except FileNotFoundError:
        raise _refusal(file, f"no such file; expected a prediction file, or a folder with {PREDICTIONS}") from None
    except IsADirectoryError:
        raise _refusal(file, f"is a folder; name the prediction file in it ({PREDICTIONS})") from None
    except OSError as error:
        raise _refusal(file, f"cannot be read ({error.strerror})") from error


def read_prediction_lines(lines: Iterable[bytes], file: str, references: References | None = None) -> PredictionFile:
    """Read predictions from lines, such as those of a file in an archive.

    Args:
        lines: Lines with their line feeds. Blank lines are skipped.
        file: Name of the file in faults.
        references: The dataset, to check thread ids against it.

    Returns:
        The predictions.

    Raises:
        PredictionError: The lines have a fault, or hold no prediction.
    """
    reader = _Reader(file, references)
    for number, line in _filled(lines, file, DATASET if references is None else references.name):
        reader.take(number, line)
    return reader.finish()


def rankings_for(
    predictions: PredictionFile | Iterable[Prediction], references: References
) -> list[Sequence[str] | None]:
    """Put predictions into dataset order. They are joined by thread id, not by position.

    Args:
        predictions: At most one per thread.
        references: The dataset.

    Returns:
        One ranking per thread of the dataset; None without a prediction.

    Raises:
        UserError: A thread that the dataset does not have, or one given twice.
    """
    rankings: list[Sequence[str] | None] = [None] * len(references)
    for prediction in predictions.predictions if isinstance(predictions, PredictionFile) else predictions:
        position = references.position.get(prediction.thread_id)
        if position is None:
            raise UserError(f"thread {plain(prediction.thread_id)}: {_not_in(references, prediction.thread_id)}")
        if rankings[position] is not None:
            raise UserError(f"thread {plain(prediction.thread_id)}: given twice, expected one prediction per thread")
        rankings[position] = prediction.ranking
    return rankings


def contradictions(predictions: Iterable[Prediction]) -> tuple[str, ...]:
    """Find the threads whose `scores` contradict the order of their `ranking`.

    Args:
        predictions: At most one per thread.

    Returns:
        Their ids, in the order given. Equal scores contradict no order.
    """
    return tuple(prediction.thread_id for prediction in predictions if prediction.scores_contradict)


class _Reader:
    """Collects predictions, faults and warnings from the lines of one file."""

    def __init__(self, file: str, references: References | None) -> None:
        self.file, self.references = file, references
        self.predictions: dict[str, Prediction] = {}
        self.first_line: dict[str, int] = {}
        self.faults: list[Fault] = []
        self.n_faults = 0
        self.strangers: list[str] = []  # the first threads that the dataset does not have
        self.n_strangers = 0
        self.repeats: list[str] = []
        self.unread: Counter[str] = Counter()

    def take(self, number: int, line: bytes) -> None:
        prediction, faults, unread = parse_line(line, file=self.file, line=number)
        if prediction is not None:
            self.unread.update(unread)
            faults = self._add(number, prediction)
        elif self.predictions and not line.endswith(b"\n") and faults[0].message.startswith("not JSON"):
            faults = [replace(faults[0], message=f"{faults[0].message}; the file may have been cut off here")]
        self.n_faults += len(faults)
        self.faults += faults[: FAULTS_KEPT - len(self.faults)]

    def _add(self, number: int, prediction: Prediction) -> list[Fault]:
        thread = prediction.thread_id
        if self.references is not None and thread not in self.references.position:
            # A run on other data has them on every line: one fault reports all.
            self.n_strangers += 1
            if self.n_strangers <= _STRANGERS_SHOWN:
                self.strangers.append(thread)
            is_first = self.n_strangers == 1
            return [Fault(self.file, number, "thread_id", thread, _not_in(self.references, thread))] if is_first else []
        earlier = self.predictions.get(thread)
        if earlier is None:
            self.predictions[thread], self.first_line[thread] = prediction, number
        elif earlier.ranking == prediction.ranking:
            self.repeats.append(f"line {number} (thread {plain(thread)})")
        else:
            message = f"already on line {self.first_line[thread]} with another ranking; expected one line per thread"
            return [Fault(self.file, number, "thread_id", thread, message)]
        return []

    def finish(self) -> PredictionFile:
        if self.faults:
            raise PredictionError([self._with_strangers(fault) for fault in self.faults], self.n_faults)
        if not self.predictions:
            raise _refusal(self.file, f"found no prediction in it; {EXPECTED}")
        return PredictionFile(Path(self.file), tuple(self.predictions.values()), tuple(self._warnings()))

    def _with_strangers(self, fault: Fault) -> Fault:
        """Add the other unknown threads to the fault of the first one."""
        if self.n_strangers < 2 or (fault.field, fault.thread) != ("thread_id", self.strangers[0]):
            return fault
        others = ", ".join(map(plain, self.strangers[1:]))
        lines = count(self.n_strangers - 1, "more line")
        return replace(fault, message=f"{fault.message}; nor are those of {lines}, such as {others}")

    def _warnings(self) -> Iterator[str]:
        if self.repeats:
            yield f"given twice with the same ranking, read once: {some(self.repeats)}"
        if self.unread:
            keys = [f"{show(key)} (on {count(lines, 'line')})" for key, lines in self.unread.items()]
            yield f"keys that no field has, not read: {some(keys)}; the fields are {', '.join(FIELDS)}"
        against = contradictions(self.predictions.values())
        if against:
            where = f"{len(against)} of {count(len(self.predictions), 'thread')} ({some(list(map(plain, against)))})"
            yield (
                f"scores contradict the order of the ranking in {where}: a candidate has a higher score than one "
                "before it. The ranking counts, best first; if the scores are right, sort it by score, highest first"
            )


def _filled(lines: Iterable[bytes], file: str, dataset: str) -> Iterator[tuple[int, bytes]]:
    """Number the lines that are not blank. Refuse files of other kinds."""
    rest = iter(_universal(lines))
    first = list(islice(rest, _FIRST_LINES))
    message = other_kind(b"".join(first), file, dataset, EXPECTED)
    if message:
        raise _refusal(file, message)
    for number, line in enumerate(chain(first, rest), 1):
        line = line.removeprefix(_BYTE_ORDER_MARK) if number == 1 else line
        if line.strip():
            yield number, line


def _universal(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Split lines at lone carriage returns too, with which old programs end lines. JSON holds them only escaped."""
    for line in lines:
        if b"\r" in line:
            yield from line.splitlines(keepends=True)
        else:
            yield line


def _refusal(file: str, message: str) -> PredictionError:
    return PredictionError([Fault(file, None, None, None, message)])


def _not_in(references: References, thread: str) -> str:
    near = _near(thread, references)
    example = f", such as {near or references.thread_ids[0]}" if len(references) else ""
    form = "" if near is None else f"; found {show(thread)}, expected {show(near)}"
    return f"not in dataset {references.name} ({len(references)} threads{example}){form}"


def _near(thread: str, references: References) -> str | None:
    """Return the id of a thread that differs only in blanks, quotes, case, or the prefix of its kind."""
    bare = re.sub(r"^[\s\W_]+|[\s\W_]+$", "", thread)
    for form in (bare, bare.lower(), f"t3_{bare}", f"t3_{bare.lower()}"):
        if form in references.position:
            return form
    return None
