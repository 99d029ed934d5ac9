"""Columns of a dataset beyond pools and labels, for the cases of a report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..base.named_dataset import load_named
from ..errors import UserError
from ..runs.references import References, dataset_folder, load_references

# The configuration with the most columns first. The three share pools and labels.
RICHEST_FIRST = ("audio_query", "query_only", "audio_only")
_COLUMNS = ("query", "submission_entities", "comments", "all_entities", "links", "clip_info")

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ClipAudio:
    """An encoded clip.

    Attributes:
        name: File name. Its suffix gives the format.
        audio: The bytes of the file.
    """

    name: str
    audio: bytes


class Threads:
    """Rows of a dataset by thread id. Audio is read for one thread at a time and never decoded.

    Args:
        references: The labels. All else is read from the same dataset.

    Raises:
        UserError: The dataset cannot be read.
    """

    def __init__(self, references: References) -> None:
        self._references = references
        self._source = _source(references)
        self._rows: dict[str, Row] = {}

    def rows(self) -> list[Row]:
        """Return one row per thread of the references, in their order, with the columns that the dataset has.

        Raises:
            UserError: A thread of the references has no row.
        """
        if not self._rows:
            names = ["thread_id", *(name for name in _COLUMNS if name in self._source.schema.names)]
            found = self._source.to_table(columns=names).to_pylist()
            self._rows = {row["thread_id"]: row for row in found}
        try:
            return [self._rows[thread_id] for thread_id in self._references.thread_ids]
        except KeyError as error:
            raise UserError(
                f"dataset {self._references.name}: thread {error} has labels in configuration "
                f"{self._references.config} and no row; rebuild it"
            ) from error

    def clips(self, thread_id: str) -> list[ClipAudio]:
        """Return the encoded clips of one thread; empty if there are none."""
        import pyarrow.compute as compute

        if "clips" not in self._source.schema.names:
            return []
        # Small batches: a row holds minutes of audio.
        wanted = self._source.to_table(
            columns=["clips"], filter=compute.field("thread_id") == thread_id, batch_size=8, use_threads=False
        ).column("clips")
        found = wanted.to_pylist()[0] if len(wanted) else None
        return [ClipAudio(Path(clip["path"] or "").name, clip["bytes"]) for clip in found or [] if clip["bytes"]]


def references_of(dataset: str | Path, config: str) -> References:
    """Return the pools and labels that runs on `config` are scored against.

    Args:
        dataset: A directory or a name.
        config: Configuration of the runs. For the three published ones, the one with the most columns is read.

    Raises:
        UserError: See `load_references`.
    """
    if config not in RICHEST_FIRST:
        return load_references(dataset, config)
    folder = dataset_folder(dataset)
    if folder is not None:
        return load_references(dataset, _richest(folder) or config)
    try:
        return load_references(dataset, RICHEST_FIRST[0])
    except UserError:
        return load_references(dataset, config)


def _richest(folder: Path) -> str | None:
    return next((name for name in RICHEST_FIRST if any(folder.glob(f"{name}/test-*.parquet"))), None)


def _source(references: References) -> Any:
    import pyarrow.dataset

    folder = dataset_folder(references.name)
    if folder is None:
        return pyarrow.dataset.dataset(load_named(references.name, references.config).data.table)
    shards = sorted(folder.glob(f"{_richest(folder) or references.config}/test-*.parquet"))
    return pyarrow.dataset.dataset([str(shard) for shard in shards])
