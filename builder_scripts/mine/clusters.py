"""`ingest` on the workers of a Spark, Ray or Dask cluster.

Dumps, work folder and this checkout need the same paths on all workers. Workers need zstandard, orjson and pyarrow.
Each needs the memory that the command prints, outside of any Java heap (Spark: `memoryOverhead`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path

from musicrs_metric.errors import UserError

from .ingest import Job, ingest
from .report import DumpReport

_CHECKOUT = str(Path(__file__).resolve().parents[2])


def _on_spark(jobs: Sequence[Job], workers: int, master: str | None) -> Generator[DumpReport, None, None]:
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise _missing("spark", "pyspark") from None
    if master is None:
        os.environ["PYSPARK_PYTHON"] = sys.executable  # else the first python3 on the path, which may be another
    builder = SparkSession.builder.appName("musicrs mine").master(master or f"local[{workers}]")
    session = (
        builder.config("spark.ui.enabled", "false").config("spark.executorEnv.PYTHONPATH", _CHECKOUT).getOrCreate()
    )
    try:
        yield from session.sparkContext.parallelize(jobs, len(jobs)).map(ingest).collect()
    finally:
        session.stop()


def _on_ray(jobs: Sequence[Job], workers: int, master: str | None) -> Generator[DumpReport, None, None]:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError:
        raise _missing("ray", "ray") from None
    ray.init(
        address=master,
        num_cpus=workers if master is None else None,
        include_dashboard=False,
        log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": _CHECKOUT}},
    )
    try:
        task = ray.remote(ingest)
        waiting = [task.remote(job) for job in jobs]
        while waiting:
            (done,), waiting = ray.wait(waiting)
            yield ray.get(done)
    finally:
        ray.shutdown()


def _on_dask(jobs: Sequence[Job], workers: int, master: str | None) -> Generator[DumpReport, None, None]:
    try:
        from dask.distributed import Client, as_completed
    except ImportError:
        raise _missing("dask", "dask[distributed]") from None
    local = {"n_workers": workers, "threads_per_worker": 1, "memory_limit": None, "dashboard_address": None}
    with Client(master) if master else Client(**local) as client:
        for future in as_completed(client.map(ingest, jobs, pure=False)):
            yield future.result()


def _missing(executor: str, package: str) -> UserError:
    return UserError(f"--executor {executor} needs {package}, which is not installed: pip install '{package}'")


MAP_ON_CLUSTER: Mapping[str, Callable[[Sequence[Job], int, str | None], Generator[DumpReport, None, None]]] = {
    "spark": _on_spark,
    "ray": _on_ray,
    "dask": _on_dask,
}
