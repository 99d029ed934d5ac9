"""What a run keeps of the answers beside the predictions: `answers.jsonl`, one line per thread.

Systems that read a model's answers leave there what it wrote and how it was read. Every process appends to a file of
its own, before it writes the predictions; what a kill left there without its prediction is dropped by the next session.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from musicrs_metric.base.files import write_text
from musicrs_metric.errors import UserError

AnswerRecord = dict[str, Any]

FILE = "answers.jsonl"


class AnswerLogWriter:
    """The records of one process while a run is under way.

    Args:
        parts: The folder of part files.
        rank: Number of the process.
    """

    def __init__(self, parts: Path, rank: int) -> None:
        self._path = parts / f"answers{rank}.jsonl"

    def append(self, records: Iterable[AnswerRecord]) -> None:
        """Write some records; a system that has none leaves no file."""
        lines = [_line(record) for record in records]
        if lines:
            with self._path.open("a", encoding="utf-8", newline="\n") as file:
                file.writelines(lines)


def merge_answer_logs(folder: Path, parts: Path, finished: Container[str]) -> None:
    """Leave one file with the records of finished threads: others are of failures, or were written just before a kill.

    Args:
        folder: The run folder; an earlier session may have left a file there.
        parts: The folder of part files.
        finished: Threads whose predictions are on disk.
    """
    earlier = list(_read(folder / FILE))
    if any(record["thread_id"] not in finished for record in earlier):
        write_text(folder / FILE, (_line(record) for record in earlier if record["thread_id"] in finished))
    files = _files(parts)
    kept = {record["thread_id"]: record for file in files for record in _read(file) if record["thread_id"] in finished}
    gathered = parts / "answers0.jsonl"
    if kept:
        write_text(gathered, map(_line, kept.values()))
    for file in files:
        if not kept or file != gathered:
            file.unlink()


def answered_threads(folder: Path, parts: Path) -> set[str]:
    """The threads that a model answered, readably or not; the arguments are those of `finish_notes`."""
    return {record["thread_id"] for file in [folder / FILE, *_files(parts)] for record in _read(file)}


def finish_answer_log(folder: Path, parts: Path, thread_ids: Sequence[str]) -> list[AnswerRecord]:
    """Make one file of all records, in dataset order.

    Args:
        folder: The run folder.
        parts: Its folder of part files.
        thread_ids: The threads whose records are kept.

    Returns:
        The records.
    """
    files = _files(parts)
    found = {record["thread_id"]: record for file in [folder / FILE, *files] for record in _read(file)}
    records = [found[thread_id] for thread_id in thread_ids if thread_id in found]
    if records:
        write_text(folder / FILE, map(_line, records))
    for file in files:
        file.unlink()
    return records


def read_answers(folder: Path) -> dict[str, str | None]:
    """Read what a model wrote in a finished run.

    Args:
        folder: The run folder.

    Returns:
        Thread id to answer, None where the model was asked for no text; empty where the run kept none.

    Raises:
        UserError: A line is no such record.
    """
    file = folder / FILE
    if not file.exists():
        return {}
    answers: dict[str, str | None] = {}
    for number, line in enumerate(file.read_bytes().splitlines(), 1):
        try:
            record = json.loads(line)
            thread_id, answer = record["thread_id"], record.get("answer")
        except (ValueError, TypeError, KeyError, AttributeError):
            thread_id, answer = None, None
        if not isinstance(thread_id, str) or not isinstance(answer, str | None):
            raise UserError(
                f'{file}, line {number}: expected {{"thread_id": "t3_...", "answer": "text", ...}} as a run writes it'
            )
        answers[thread_id] = answer
    return answers


def sum_ledgers(ledgers: Iterable[Mapping[str, int] | None]) -> dict[str, int]:
    """Add counts up by name; what is 0 everywhere stays, as 0."""
    total = Counter[str]()
    for ledger in ledgers:
        total.update(ledger or {})
    return dict(total)


def _files(parts: Path) -> list[Path]:
    """The files of all processes, the one that was written last at the end."""
    return sorted(parts.glob("answers[0-9]*.jsonl"), key=lambda file: file.stat().st_mtime_ns)


def _read(file: Path) -> Iterator[AnswerRecord]:
    if file.exists():
        for line in file.read_bytes().splitlines():
            with suppress(ValueError):  # cut short by a kill; its thread is ranked again
                yield json.loads(line)


def _line(record: AnswerRecord) -> str:
    return json.dumps(record, allow_nan=False) + "\n"  # escapes what is half a character, as models may write it
