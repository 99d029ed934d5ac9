"""Where the expressions run: DuckDB in this process, or Spark on this machine or a cluster."""

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
        read: Makes one table of Parquet files of one schema.
        keep: Computes a table that is needed more than once, and keeps it until the engine is closed.
        fetch: Computes a table and brings it here, as a `pyarrow.Table`.
    """

    read: Callable[[Sequence[Path]], Table]
    keep: Callable[[Table], Table]
    fetch: Callable[[Table], Any]


@contextmanager
def connect(engine: Engine, scratch: Path, *, memory: str | None = None, master: str | None = None) -> Iterator[Tables]:
    """Open an engine.

    Args:
        engine: Which one.
        scratch: A folder for what does not fit into DuckDB's memory; it is removed at the end.
        memory: How much DuckDB, or Spark's driver, may take, as in `4GB`; None for the engine's own choice.
        master: Spark's master (`local[4]`, `spark://...`, `yarn`) or the address of a Spark Connect server
            (`sc://...`); None for this machine. DuckDB has none.

    Raises:
        UserError: Spark, or the Java that it needs, is absent, or DuckDB is given a master.
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
            # Not `cache()`: to drop what it made, Ibis 12 writes a statement that newer sqlglots leave unfinished.
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
        if master is None or master.startswith("local"):  # a cluster has its own idea of how many parts are good
            builder = builder.config("spark.sql.shuffle.partitions", str(os.cpu_count() or 1))
    session = builder.getOrCreate()

    def read(paths: Sequence[Path]) -> Table:
        name = f"mined_{next(numbers)}"
        session.read.parquet(*map(str, paths)).createOrReplaceTempView(name)
        return backend.table(name)

    numbers = count()
    try:
        backend = ibis.pyspark.connect(session)
        with ExitStack() as kept:
            yield Tables(
                read=read,
                keep=lambda table: kept.enter_context(table.cache()),
                # Not Ibis' own way, which leads through pandas and its floats in place of integers with gaps.
                fetch=lambda table: session.sql(backend.compile(table)).toArrow(),
            )
    finally:
        session.stop()
