"""The files of a run that is under way: what survives a kill, and how many files become one.

Every process appends the threads it has finished to a file of its own, as whole lines, and forces them to disk. A
process that is killed leaves at most one line cut short. Whoever takes the run up again, with however many processes,
gathers what is whole and of the same configuration into one file, and goes on from there.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from musicrs_metric.base.files import strict_json, to_json, write_text
from musicrs_metric.errors import UserError, count, some
from musicrs_metric.runs.predictions import Prediction, format_line, parse_line

GATHERED = "gathered.jsonl"


def shard_files(folder: Path) -> list[Path]:
    """The files that processes and `gather` write; whatever else lies in the folder is nobody's business here."""
    return sorted([*folder.glob(GATHERED), *folder.glob("rank[0-9]*.jsonl")])


def shard_lines(predictions: Iterable[Prediction], config: str) -> Iterator[str]:
    """Predictions as lines of a part file, each with the configuration that it was made under."""
    for prediction in predictions:
        yield to_json(strict_json(format_line(prediction)) | {"config": config}) + "\n"


class ShardContents(NamedTuple):
    """What earlier processes left.

    Attributes:
        predictions: Thread id to prediction; of two lines for one thread the first.
        set_aside: Number of lines that are not reused, by reason.
    """

    predictions: dict[str, Prediction]
    set_aside: Counter[str]


def read_shards(folder: Path, config: str, thread_ids: Container[str]) -> ShardContents:
    """Read what earlier processes finished.

    Args:
        folder: The folder of part files; it need not exist.
        config: Hash of the configuration; a line made under another one is not reused.
        thread_ids: The threads of the dataset; a line of another one is not reused.
    """
    found = ShardContents({}, Counter())
    for file in shard_files(folder):
        for line in filter(None, file.read_bytes().split(b"\n")):
            prediction = parse_line(line).prediction
            if prediction is None:
                found.set_aside["cut short or broken"] += 1
            elif strict_json(line.decode()).get("config") != config:
                found.set_aside["of another configuration"] += 1
            elif prediction.thread_id not in thread_ids:
                found.set_aside["of a thread that the dataset does not have"] += 1
            else:
                found.predictions.setdefault(prediction.thread_id, prediction)
    return found


def merge_shards(folder: Path, predictions: Iterable[Prediction], config: str) -> None:
    """Replace all part files by one that holds `predictions`; a kill in between loses nothing."""
    gathered = folder / GATHERED
    write_text(gathered, shard_lines(predictions, config))
    for file in shard_files(folder):
        if file != gathered:
            file.unlink()


def positions_of(positions: Sequence[int], rank: int, world: int) -> Sequence[int]:
    """The positions that one of several processes takes: each position goes to exactly one, none is padded."""
    return positions[rank::world]


def in_dataset_order(thread_ids: Sequence[str], found: dict[str, Prediction]) -> list[Prediction]:
    """Put predictions into dataset order, exactly one per thread.

    Raises:
        UserError: A thread has none: another process of the run ended early.
    """
    missing = [thread_id for thread_id in thread_ids if thread_id not in found]
    if missing:
        raise UserError(f"{count(len(missing), 'thread')} not finished: {some(missing)}; run the same command again")
    return [found[thread_id] for thread_id in thread_ids]


class ShardWriter:
    """The part file of one process.

    Args:
        folder: The folder of part files.
        rank: Number of the process.
        config: Hash of the configuration.
    """

    def __init__(self, folder: Path, rank: int, config: str) -> None:
        self._config = config
        self._file = (folder / f"rank{rank}.jsonl").open("a", encoding="utf-8", newline="\n")

    def __enter__(self) -> ShardWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def append(self, predictions: Iterable[Prediction]) -> None:
        """Write a batch and force it to disk."""
        self._file.writelines(shard_lines(predictions, self._config))
        self._file.flush()
        os.fsync(self._file.fileno())
