"""`python -m builder_scripts mine`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from musicrs_metric.errors import some

from ..pipeline.option_command import WorkFolder, option_command
from .options import MineOptions

if TYPE_CHECKING:
    from .run import Mined


@option_command(MineOptions)
def mine(work: WorkFolder, options: MineOptions) -> None:
    """Read the wanted subreddits from dumps into bronze Parquet.

    Finished dumps are not read again. To resume a stopped run, repeat the command. Exit code 1 means that a dump is
    damaged, or that the dumps hold no row of a named subreddit. The rows before the damage are kept. The dump is mined
    again once the file is replaced.
    """
    from rich.console import Console

    from ..layout import Work
    from .check_subreddits import missing_subreddits
    from .dumps import NAMES, find_dumps, unnamed
    from .executors import default_workers, memory_per_worker
    from .run import Mining, run_with_progress

    console = Console(stderr=True)
    dumps = find_dumps(options.dumps)
    mining = Mining(dumps, Work(work), options.subreddits)
    others = unnamed(options.dumps)
    if others:
        names = some([path.name for path in others], 3)
        console.print(f"skipped {names}: expected {NAMES}")
    todo = [job.dump for job in mining.jobs]
    workers = options.workers or default_workers(todo)
    if mining.done:
        console.print(f"{len(mining.done)} of {len(dumps)} dumps are mined already")
    if todo:
        console.print(f"{workers} workers, up to {memory_per_worker(todo) / 2**30:.1f} GiB of memory each")
    mined = run_with_progress(mining, workers, options.executor, options.master, console)
    _print_result(mined, work)
    missing = list(missing_subreddits(mining, mined, named=options.names_subreddits))
    for line in missing:
        typer.echo(line, err=True)
    if mined.damaged or missing:
        raise typer.Exit(1)


def _print_result(mined: Mined, work: Path) -> None:
    for kind, counts in mined.counts().items():
        left_out = ", ".join(f"{n:,} {reason}" for reason, n in counts.dropped.items())
        typer.echo(f"{kind}: {counts.kept:,} of {counts.seen:,} lines kept" + (f" ({left_out})" if left_out else ""))
    for kind, counts in mined.withdrawn().items():
        by_sign = ", ".join(f"{n:,} {sign}" for sign, n in counts.dropped.items())
        typer.echo(f"{kind}: {counts.seen:,} of the lines kept, whose texts are not stored ({by_sign})")
    for report in mined.damaged:
        typer.echo(f"DAMAGED {report.path}: {report.damage}; fetch it again", err=True)
    typer.echo(f"{mined.n_new} dumps mined, {len(mined.reports) - mined.n_new} were there -> {work / 'bronze'}")
