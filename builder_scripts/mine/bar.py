"""Mining with a progress bar over the bytes of the dumps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from musicrs_metric.base.progress import say

from .executors import Executor, default_workers
from .run import Mined, Mining

if TYPE_CHECKING:
    from rich.console import Console


def mine_with_bar(
    mining: Mining, workers: int | None, executor: Executor, master: str | None, console: Console
) -> Mined:
    """Mine what is left to do.

    Args:
        mining: The work.
        workers: Dumps at once; None for as many as processors and memory hold.
        executor: See `run_jobs`.
        master: See `run_jobs`.
        console: Where the bar is shown, if there is anything to do, and what is written over.
    """
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    outdated = mining.outdated()
    if outdated:
        say(console, f"{outdated}; all dumps are mined again")
    replaced = mining.replaces()
    if replaced:
        say(console, f"in place of {replaced}, which an earlier run has mined; to keep them, take another work folder")
    todo = [job.dump for job in mining.jobs]
    columns = (TextColumn("Mining"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not todo) as progress:
        task = progress.add_task("", total=sum(dump.path.stat().st_size for dump in todo))
        at_once = workers or default_workers(todo)
        return mining.run(at_once, executor, master, lambda size: progress.update(task, advance=size))
