"""Records of the answers in `answers.jsonl`, one line per thread.

Systems that ask language models record the text of each answer and the counts of its reading. Every process appends to
its own file, before it writes the predictions. The next session drops records that a killed process left without a
prediction.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from musicrs_metric.base.jsonl_log import JsonlLog, read_log, rewrite
from musicrs_metric.errors import UserError

AnswerRecord = dict[str, Any]

FILE = "answers.jsonl"


class AnswerLogWriter:
    """The answer records of one process in an unfinished run.

    Args:
        parts: The folder of shards.
        rank: Number of the process.
    """

    def __init__(self, parts: Path, rank: int) -> None:
        self._log = JsonlLog(parts / f"answers{rank}.jsonl")

    def append(self, records: Iterable[AnswerRecord]) -> None:
        """Write some records. A system without records leaves no file."""
        self._log.append(map(_line, records))
        self._log.close()


def merge_answer_logs(folder: Path, parts: Path, finished: Container[str]) -> None:
    """Keep the records of finished threads only. Other records belong to failures, or to a killed process.

    Args:
        folder: The run folder, in which an earlier session may have left a file.
        parts: The folder of shards.
        finished: Threads whose predictions are on disk.
    """
    earlier = list(_read(folder / FILE))
    if any(record["thread_id"] not in finished for record in earlier):
        rewrite(folder / FILE, (_line(record) for record in earlier if record["thread_id"] in finished))
    files = _files(parts)
    records = {record["thread_id"]: record for file in files for record in _read(file)}
    lines = [_line(record) for thread_id, record in records.items() if thread_id in finished]
    gathered = parts / "answers0.jsonl"
    if lines:
        rewrite(gathered, lines)
    for file in files:
        if not lines or file != gathered:
            file.unlink()


def read_records(folder: Path, parts: Path) -> dict[str, AnswerRecord]:
    """Read the records of a finished or unfinished run.

    Args:
        folder: The run folder.
        parts: Its folder of shards.

    Returns:
        Thread id to record; the last one written if a thread has several.
    """
    return {record["thread_id"]: record for file in [folder / FILE, *_files(parts)] for record in _read(file)}


def finish_answer_log(folder: Path, parts: Path, thread_ids: Sequence[str]) -> list[AnswerRecord]:
    """Write all records to one file, in dataset order.

    Args:
        folder: The run folder.
        parts: Its folder of shards.
        thread_ids: The threads whose records are kept.

    Returns:
        The records.
    """
    by_thread = read_records(folder, parts)
    records = [by_thread[thread_id] for thread_id in thread_ids if thread_id in by_thread]
    if records:
        rewrite(folder / FILE, map(_line, records))
    for file in _files(parts):
        file.unlink()
    return records


def read_answers(folder: Path) -> dict[str, str | None]:
    """Read the answers of a finished run.

    Args:
        folder: The run folder.

    Returns:
        Thread id to answer, None if the model was not asked for text; empty if the run recorded none.

    Raises:
        UserError: A line is not an answer record.
    """
    file = folder / FILE
    answers: dict[str, str | None] = {}
    for line in read_log(file):
        try:
            record = json.loads(line.data)
            thread_id, answer = record["thread_id"], record.get("answer")
        except (ValueError, TypeError, KeyError, AttributeError):
            thread_id, answer = None, None
        if not isinstance(thread_id, str) or not isinstance(answer, str | None):
            raise UserError(
                f"{file}, line {line.number}: expected "
                '{"thread_id": "t3_...", "answer": "text", ...} as a run writes it'
            )
        answers[thread_id] = answer
    return answers


def sum_ledgers(ledgers: Iterable[Mapping[str, int] | None]) -> dict[str, int]:
    """Add counts by name. A count that is 0 everywhere stays as 0."""
    total = Counter[str]()
    for ledger in ledgers:
        total.update(ledger or {})
    return dict(total)


def _files(parts: Path) -> list[Path]:
    """List the files of all processes, the last written one at the end."""
    return sorted(parts.glob("answers[0-9]*.jsonl"), key=lambda file: file.stat().st_mtime_ns)


def _read(file: Path) -> Iterator[AnswerRecord]:
    for line in read_log(file):
        with suppress(ValueError):  # torn by a kill; its thread is ranked again
            yield json.loads(line.data)


def _line(record: AnswerRecord) -> str:
    return json.dumps(record, allow_nan=False)  # escapes half surrogate pairs, which models may write
