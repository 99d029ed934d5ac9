"""Executors that map `ingest` over dumps: processes of this machine, or a cluster (see `clusters`)."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from importlib.abc import MetaPathFinder
from multiprocessing.connection import wait as wait_for
from threading import Thread
from typing import Any, Literal

from musicrs_metric.errors import UserError

from .clusters import MAP_ON_CLUSTER
from .dump_reader import window_of
from .dumps import Dump
from .ingest import Job, ingest
from .report import DumpReport

Executor = Literal["pool", "spark", "ray", "dask"]

_ROWS = 400 << 20  # libraries, lines and two groups of rows, as measured
_POLL_S = 0.2


def memory_per_worker(dumps: Sequence[Dump]) -> int:
    """Say how many bytes of memory a worker may come to need: the largest window, and what rows take on their way."""
    return max((window_of(dump.path) for dump in dumps), default=0) + _ROWS


def default_workers(dumps: Sequence[Dump]) -> int:
    """Choose how many dumps to mine at once: as many as there are processors and dumps, and as memory holds."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(1, min(os.cpu_count() or 1, len(dumps), memory // memory_per_worker(dumps)))


def run_jobs(
    jobs: Sequence[Job], executor: Executor, workers: int, advance: Callable[[int], None], master: str | None = None
) -> Generator[DumpReport, None, None]:
    """Mine dumps.

    Args:
        jobs: One per dump, in the order in which they should begin.
        executor: What to run them on; all give the same files.
        workers: How many at once; the pool's only one is this process.
        advance: Told how many more compressed bytes have been read; on a cluster, when a dump is finished.
        master: Address of the cluster; None for one on this machine.

    Yields:
        A report per dump, as they are finished.

    Raises:
        UserError: The executor is not installed, or a worker was killed.
    """
    if executor == "pool":
        yield from (_on_processes(jobs, workers, advance) if workers > 1 else (ingest(job, advance) for job in jobs))
        return
    for report in MAP_ON_CLUSTER[executor](jobs, workers, master):
        advance(report.dump.bytes)
        yield report


def _on_processes(
    jobs: Sequence[Job], workers: int, advance: Callable[[int], None]
) -> Generator[DumpReport, None, None]:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["__main__", __name__, "orjson", "pyarrow.parquet", "zstandard"])
    read = context.Value("q", 0)
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_begin_worker, initargs=(read,))
    running: set[Future[DumpReport]] = set()
    told = 0
    try:
        running |= {pool.submit(_ingest_in_worker, job) for job in jobs}
        while running:
            done, running = wait(running, _POLL_S, FIRST_COMPLETED)
            now = read.value
            advance(now - told)
            told = now
            for future in done:
                yield future.result()
    except BrokenProcessPool as error:
        raise UserError(
            f"a worker was killed, most likely for want of memory; what is finished is kept, "
            f"so run again with fewer than {workers} workers"
        ) from error
    finally:
        if running:  # stopped in the middle: what the workers are at is done again by the next run
            for process in set(multiprocessing.active_children()) - others:
                process.kill()
        pool.shutdown(cancel_futures=True)


_read: Any = None  # in a worker: compressed bytes read by all workers


def _begin_worker(read: Any) -> None:
    global _read
    _read = read
    sys.meta_path.insert(0, _WithoutPandas())
    gc.disable()  # rows hold no cycles, and looking for some takes a twentieth of the time
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    Thread(target=_end_with_parent, daemon=True).start()


class _WithoutPandas(MetaPathFinder):
    """Keeps pyarrow from importing pandas to ask whether columns are of its kind: 0.16 s and 46 MB a worker."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:  # noqa: ARG002
        if name == "pandas":
            raise ModuleNotFoundError("not wanted here", name=name)


def _end_with_parent() -> None:
    """Leave with the parent, however it ended, so that no worker writes where the next run does."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait_for([parent.sentinel])
        os._exit(1)


def _ingest_in_worker(job: Job) -> DumpReport:
    return ingest(job, _advance)


def _advance(size: int) -> None:
    with _read.get_lock():
        _read.value += size
