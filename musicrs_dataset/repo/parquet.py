"""Write Parquet shards row by row, so that memory holds one row group only."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

from ..schema import SPLIT, Row

SHARD_BYTES = 500 * 2**20  # the Hub's advice for one file
GROUP_BYTES = 32 * 2**20
GROUP_ROWS = 64  # small, so that streams and slices read little data


class ShardWriter:
    """Writes the rows of one configuration to `test-00000-of-0000N.parquet`, ... in a folder.

    Use it as a context manager. Without an error, the files get their final names at its end.

    Args:
        folder: Folder to write into; created if missing.
        schema: A `pyarrow.Schema`.
        shard_bytes: Size at which a new file starts.
        group_bytes: Approximate limit of the clips in memory, in bytes.
    """

    def __init__(
        self, folder: Path, schema: Any, shard_bytes: int = SHARD_BYTES, group_bytes: int = GROUP_BYTES
    ) -> None:
        self.folder, self.schema = folder, schema
        self.shard_bytes, self.group_bytes = shard_bytes, group_bytes
        self.files: list[Path] = []
        self.rows = 0
        self._group: list[Row] = []
        self._in_group = self._in_shard = 0
        self._writer: Any = None

    def __enter__(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        return self

    def write(self, row: Row) -> None:
        """Add a row."""
        self._group.append(row)
        self.rows += 1
        self._in_group += sum(len(clip["bytes"]) for clip in row.get("clips", ()))
        if len(self._group) >= GROUP_ROWS or self._in_group >= self.group_bytes:
            self._write_group()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._write_group()
            self._end_shard()
            n = len(self.files)
            self.files = [file.rename(file.with_stem(f"{file.stem}-of-{n:05d}")) for file in self.files]
        elif self._writer is not None:
            self._writer.close()

    def _write_group(self) -> None:
        import pyarrow
        import pyarrow.parquet

        if not self._group:
            return
        if self._writer is None:
            self.files.append(self.folder / f"{SPLIT}-{len(self.files):05d}.parquet")
            self._writer = pyarrow.parquet.ParquetWriter(
                self.files[-1], self.schema, compression="zstd", write_page_index=True
            )
        table = pyarrow.Table.from_pylist(self._group, schema=self.schema)
        self._writer.write_table(table, row_group_size=len(self._group))
        self._group, self._in_group = [], 0
        self._in_shard += table.nbytes
        if self._in_shard >= self.shard_bytes:
            self._end_shard()

    def _end_shard(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer, self._in_shard = None, 0
