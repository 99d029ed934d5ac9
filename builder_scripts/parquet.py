"""Parquet files: written so that they appear under their name only when they are complete, and read as rows."""

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
    """Write a Parquet file that takes the place of `path` in one step.

    Args:
        path: The file to make or to replace; missing folders are made.
        schema: A `pyarrow.Schema`.

    Yields:
        A `pyarrow.parquet.ParquetWriter`. If the block raises, what stood at `path` stays as it was. What a killed
        process left behind (`_<name>.<pid>.tmp`, passed over by readers of the folder) goes with the next writing.
    """
    import pyarrow.parquet as pq

    path.parent.mkdir(parents=True, exist_ok=True)
    for left in path.parent.glob(f"_{path.name}.*.tmp"):
        left.unlink(missing_ok=True)
    partial = path.with_name(f"_{path.name}.{os.getpid()}.tmp")
    try:
        with pq.ParquetWriter(partial, schema, compression="zstd") as writer:
            yield writer
        with partial.open("rb") as file:
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def read_rows(path: Path, columns: Sequence[str], stage: str) -> list[dict[str, Any]]:
    """Read columns of a Parquet file as rows.

    Args:
        path: The file.
        columns: Which.
        stage: Who makes it, for messages.

    Raises:
        UserError: There is no such file, or columns are missing.
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
