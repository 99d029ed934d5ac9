"""Read the clips of one thread at a time, because all clips of a dataset do not fit into memory."""

from __future__ import annotations

from bisect import bisect_right
from pathlib import Path
from typing import Any

from musicrs_metric.base.named_dataset import load_named
from musicrs_metric.runs.references import dataset_folder

from ..records import Clip
from ..schema import SPLIT, Row, from_row


class LazyClips:
    """Clips of a dataset by the position of their thread.

    Args:
        dataset: A dataset that `musicrs_dataset.loading.iter_threads` has read and checked.
        config: A configuration with audio.
    """

    def __init__(self, dataset: str | Path, config: str) -> None:
        folder = dataset_folder(dataset)
        self._rows: _FolderRows | _NamedRows = (
            _NamedRows(str(dataset), config) if folder is None else _FolderRows(folder, config)
        )

    def __call__(self, position: int) -> tuple[Clip, ...]:
        """Read the clips of a thread.

        Args:
            position: Position of the thread in the dataset, from 0. In ascending order, each row group is read once.

        Returns:
            The clips; none if the thread has no audio.
        """
        return from_row(self._rows.row(position)).clips or ()


class _FolderRows:
    """Rows of Parquet files; one row group is in memory at a time."""

    def __init__(self, folder: Path, config: str) -> None:
        import pyarrow.parquet

        self._groups: list[tuple[Path, int]] = []
        self._first_rows: list[int] = []
        n = 0
        for shard in sorted(folder.glob(f"{config}/{SPLIT}-*.parquet")):
            metadata = pyarrow.parquet.read_metadata(shard)
            for group in range(metadata.num_row_groups):
                self._groups.append((shard, group))
                self._first_rows.append(n)
                n += metadata.row_group(group).num_rows
        self._loaded: tuple[int, Any] = (-1, None)

    def row(self, position: int) -> Row:
        index = bisect_right(self._first_rows, position) - 1
        if self._loaded[0] != index:
            import pyarrow.parquet

            shard, group = self._groups[index]
            with pyarrow.parquet.ParquetFile(shard) as file:
                self._loaded = (index, file.read_row_group(group))
        row: Row = self._loaded[1].slice(position - self._first_rows[index], 1).to_pylist()[0]
        return row


class _NamedRows:
    """Rows of a dataset that the `datasets` library maps into memory."""

    def __init__(self, name: str, config: str) -> None:
        self._rows = load_named(name, config).with_format("arrow")

    def row(self, position: int) -> Row:
        row: Row = self._rows[position : position + 1].to_pylist()[0]
        return row
