"""The table of stage `queries`, one row per thread."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..llm import Outcome
from ..parquet import read_rows, replacing_parquet
from .stage import Query


def schema() -> Any:
    """The columns, as a `pyarrow.Schema`; `query` is null where there is none, and `failure` where there is one."""
    import pyarrow as pa

    text = ("thread_id", "query", "failure", "rung")
    return pa.schema([*((name, pa.string()) for name in text), ("asked", pa.int32())])


def write_queries(path: Path, queries: Sequence[Query]) -> None:
    """Write the table in one step, in the order given."""
    import pyarrow as pa

    rows = [{"thread_id": found.thread_id, "query": found.query} | found.outcome._asdict() for found in queries]
    with replacing_parquet(path, schema()) as writer:
        writer.write_table(pa.Table.from_pylist(rows, schema=schema()))


def read_queries(path: Path) -> list[Query]:
    """Read the table.

    Raises:
        UserError: It is not there, or is no such table.
    """
    rows = read_rows(path, schema().names, "queries")
    return [Query(row["thread_id"], row["query"], Outcome(*(row[field] for field in Outcome._fields))) for row in rows]
