"""Engines of the expressions: DuckDB in this process, or Spark on this machine or a cluster."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from musicrs_metric.errors import UserError

if TYPE_CHECKING:
    from ibis.expr.types import Table

Engine = Literal["duckdb", "spark"]

_SPARK: dict[str, bool | float | int | str | None] = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}


@dataclass(frozen=True)
class Tables:
    """An open engine.

    Attributes:
        read: Makes one table from Parquet files of one schema.
        keep: Computes a table once, and keeps it until the engine is closed.
        fetch: Computes a table, and returns it as a `pyarrow.Table`.
    """

    read: Callable[[Sequence[Path]], Table]
    keep: Callable[[Table], Table]
    fetch: Callable[[Table], Any]


@contextmanager
def connect(engine: Engine, scratch: Path, *, memory: str | None = None, master: str | None = None) -> Iterator[Tables]:
    """Open an engine.

    Args:
        engine: Name of the engine.
        scratch: Folder for data that do not fit into DuckDB's memory. It is removed at the end.
        memory: Memory limit of DuckDB or Spark's driver, such as `4GB`. None for the default of the engine.
        master: Spark's master (`local[4]`, `spark://...`, `yarn`) or the URL of a Spark Connect server (`sc://...`).
            None for this machine. DuckDB has none.

    Raises:
        UserError: Spark or Java is missing, or DuckDB gets a master.
    """
    if engine == "spark":
        with _spark(memory, master) as tables:
            yield tables
    elif master is not None:
        raise UserError(f"--master {master} is for Spark; add --engine spark, or leave it out")
    else:
        with _duckdb(scratch, memory) as tables:
            yield tables


@contextmanager
def _duckdb(scratch: Path, memory: str | None) -> Iterator[Tables]:
    import ibis

    settings = {"temp_directory": str(scratch)} | ({"memory_limit": memory} if memory else {})
    backend = ibis.duckdb.connect(**settings)
    numbers = count()
    try:
        yield Tables(
            read=lambda paths: backend.read_parquet([str(path) for path in paths]),
            # Not `cache()`: to drop its table, Ibis 12 writes a statement that newer sqlglots leave unfinished.
            keep=lambda table: backend.create_table(f"kept_{next(numbers)}", table, temp=True),
            fetch=backend.to_pyarrow,
        )
    finally:
        backend.disconnect()
        shutil.rmtree(scratch, ignore_errors=True)


@contextmanager
def _spark(memory: str | None, master: str | None) -> Iterator[Tables]:
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise UserError("--engine spark needs pyspark: pip install 'musicrs[spark]'") from None
    import ibis

    builder = SparkSession.builder.appName("musicrs threads")
    if master is not None and master.startswith("sc://"):
        builder = builder.remote(master)
    else:
        if master is None and not (shutil.which("java") or os.environ.get("JAVA_HOME")):
            raise UserError("--engine spark needs Java 17 or newer on the path, and found none; install a Java runtime")
        builder = builder.master(master or "local[*]").config(map=_SPARK)
        if memory is not None:
            builder = builder.config("spark.driver.memory", memory.removesuffix("B"))
        if master is None or master.startswith("local"):  # a cluster sets its own number of partitions
            builder = builder.config("spark.sql.shuffle.partitions", str(os.cpu_count() or 1))
    session = builder.getOrCreate()

    def read(paths: Sequence[Path]) -> Table:
        name = f"mined_{next(numbers)}"
        session.read.parquet(*map(str, paths)).createOrReplaceTempView(name)
        return backend.table(name)

    numbers = count()
    try:
        backend = ibis.pyspark.connect(session)
        with ExitStack() as stack:
            yield Tables(
                read=read,
                keep=lambda table: stack.enter_context(table.cache()),
                # Not with Ibis, which goes through pandas and turns integers with nulls into floats.
                fetch=lambda table: session.sql(backend.compile(table)).toArrow(),
            )
    finally:
        session.stop()
