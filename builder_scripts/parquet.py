"""Parquet files: written in one step, and read as rows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from musicrs_metric.errors import UserError

from .layout import require

ROWS_PER_GROUP = 50_000


@contextmanager
def replacing_parquet(path: Path, schema: Any) -> Iterator[Any]:
    """Write a Parquet file that replaces `path` in one step.

    Args:
        path: The file. Missing folders are created.
        schema: A `pyarrow.Schema`.

    Yields:
        A `pyarrow.parquet.ParquetWriter`. If the block raises, the old file stays. The next call removes the partial
        file of a killed process (`_<name>.<pid>.tmp`, which readers of the folder skip).
    """
    import pyarrow.parquet as pq

    path.parent.mkdir(parents=True, exist_ok=True)
    for leftover in path.parent.glob(f"_{path.name}.*.tmp"):
        leftover.unlink(missing_ok=True)
    partial = path.with_name(f"_{path.name}.{os.getpid()}.tmp")
    try:
        with pq.ParquetWriter(partial, schema, compression="zstd") as writer:
            yield writer
        with partial.open("rb") as file:
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def write_rows(path: Path, rows: Sequence[dict[str, Any]], schema: Any) -> None:
    """Write rows in one step, in the order given."""
    import pyarrow as pa

    with replacing_parquet(path, schema) as writer:
        writer.write_table(pa.Table.from_pylist(rows, schema=schema))


def read_rows(path: Path, columns: Sequence[str], stage: str) -> list[dict[str, Any]]:
    """Read columns of a Parquet file as rows.

    Args:
        path: The file.
        columns: Names of the columns.
        stage: The stage that writes the file, for messages.

    Raises:
        UserError: The file or a column is missing.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    require((path,), stage)
    try:
        rows: list[dict[str, Any]] = pq.read_table(path, columns=list(columns)).select(list(columns)).to_pylist()
    except (KeyError, pa.ArrowInvalid) as error:
        raise UserError(
            f"{path}: not the table of stage {stage} ({error}); expected columns {', '.join(columns)}"
        ) from error
    return rows
