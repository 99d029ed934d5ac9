"""The files of an unfinished run, which survive a kill, and their merge into one file.

Every process appends its finished threads to its own file, as whole lines, and brings them to the disk. A killed
process leaves at most one torn line. A resumed run, with any number of processes, merges the whole lines of the same
configuration into one file and continues from there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from musicrs_metric.base.files import strict_json, to_json
from musicrs_metric.base.jsonl_log import JsonlLog, read_log, rewrite
from musicrs_metric.errors import UserError, count, some
from musicrs_metric.runs.prediction_line import prediction_fields
from musicrs_metric.runs.predictions import Prediction, parse_line

GATHERED = "gathered.jsonl"


def shard_files(folder: Path) -> list[Path]:
    """List the files that processes and `merge_shards` write, and no other files of the folder."""
    return sorted([*folder.glob(GATHERED), *folder.glob("rank[0-9]*.jsonl")])


class ShardContents(NamedTuple):
    """Predictions of earlier processes.

    Attributes:
        predictions: Thread id to prediction; the first of two lines for one thread.
        set_aside: Number of lines that are not reused, by reason.
    """

    predictions: dict[str, Prediction]
    set_aside: Counter[str]


def read_shards(folder: Path, config: str, thread_ids: Container[str]) -> ShardContents:
    """Read the predictions of earlier processes.

    Args:
        folder: The folder of shards, which need not exist.
        config: Hash of the configuration. Lines of another configuration are set aside.
        thread_ids: The threads of the dataset. Lines of other threads are set aside.
    """
    contents = ShardContents({}, Counter())
    # `ShardWriter` ends its lines so; then the rest is the line of a prediction file.
    end = f', "config": {to_json(config)}}}'.encode()
    for line in (line for file in shard_files(folder) for line in read_log(file)):
        is_current = line.data.endswith(end)
        prediction = parse_line(line.data.removesuffix(end) + b"}" if is_current else line.data).prediction
        if prediction is None:
            contents.set_aside["cut short or broken"] += 1
        elif not is_current and strict_json(line.data.decode()).get("config") != config:
            contents.set_aside["of another configuration"] += 1
        elif prediction.thread_id not in thread_ids:
            contents.set_aside["of a thread that the dataset does not have"] += 1
        else:
            contents.predictions.setdefault(prediction.thread_id, prediction)
    return contents


def merge_shards(folder: Path, predictions: Iterable[Prediction], config: str) -> None:
    """Replace all shards by one that holds `predictions`. A kill in between loses nothing."""
    gathered = folder / GATHERED
    rewrite(gathered, _lines(predictions, config))
    for file in shard_files(folder):
        if file != gathered:
            file.unlink()


def positions_of(positions: Sequence[int], rank: int, world: int) -> Sequence[int]:
    """Return the positions of one process. Each position belongs to exactly one process, and none is padded."""
    return positions[rank::world]


def in_dataset_order(thread_ids: Sequence[str], predictions: dict[str, Prediction]) -> list[Prediction]:
    """Return the predictions in dataset order, exactly one per thread.

    Raises:
        UserError: A thread has none: another process of the run ended early.
    """
    missing = [thread_id for thread_id in thread_ids if thread_id not in predictions]
    if missing:
        raise UserError(f"{count(len(missing), 'thread')} not finished: {some(missing)}; run the same command again")
    return [predictions[thread_id] for thread_id in thread_ids]


class ShardWriter:
    """The shard of one process.

    Args:
        folder: The folder of shards.
        rank: Number of the process.
        config: Hash of the configuration.
    """

    def __init__(self, folder: Path, rank: int, config: str) -> None:
        self._config = config
        self._log = JsonlLog(folder / f"rank{rank}.jsonl", fsync="append")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._log.close()

    def append(self, predictions: Iterable[Prediction]) -> None:
        """Write a batch of valid predictions and bring it to the disk."""
        self._log.append(_lines(predictions, self._config))


def _lines(predictions: Iterable[Prediction], config: str) -> Iterator[str]:
    return (to_json(prediction_fields(prediction) | {"config": config}) for prediction in predictions)
