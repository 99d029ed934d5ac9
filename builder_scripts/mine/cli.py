"""`python -m builder_scripts mine`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from musicrs_metric.base.genres import GENRE_OF_SUBREDDIT
from musicrs_metric.errors import some

if TYPE_CHECKING:
    from .run import Mined


class ExecutorName(StrEnum):
    """What the dumps are mapped over."""

    pool = "pool"
    spark = "spark"
    ray = "ray"
    dask = "dask"


def mine(
    dumps: Annotated[list[Path], typer.Argument(help="Dumps (RS_*.zst, r_jazz_posts.jsonl, ...) and folders of them.")],
    work: Annotated[Path, typer.Option(help="Work folder of the corpus.")],
    subreddit: Annotated[
        list[str] | None, typer.Option(help="Subreddit to keep; may be repeated. [those of the paper]")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Dumps at once. [processors, as far as memory holds]")
    ] = None,
    executor: Annotated[ExecutorName, typer.Option(help="What to run on; all give the same rows.")] = ExecutorName.pool,
    master: Annotated[str | None, typer.Option(help="Address of the cluster. [one on this machine]")] = None,
) -> None:
    """Read the wanted subreddits out of dumps into bronze Parquet.

    A dump that is done is not read again, so a run that was stopped goes on with the same command. Exit code 1 where a
    dump is damaged: its rows up to the damage are kept, and it is mined again once the file has been replaced; and
    where the dumps hold no row of a subreddit that was named.
    """
    from rich.console import Console

    from ..layout import Work
    from .bar import mine_with_bar
    from .check_subreddits import missing_subreddits
    from .dumps import NAMES, find_dumps, unnamed
    from .executors import default_workers, memory_per_worker
    from .run import Mining

    told = Console(stderr=True)
    found = find_dumps(dumps)
    mining = Mining(found, Work(work), subreddit or list(GENRE_OF_SUBREDDIT))
    others = unnamed(dumps)
    if others:
        names = some([path.name for path in others], 3)
        told.print(f"skipped {names}: their names tell neither submissions nor comments; expected {NAMES}")
    todo = [job.dump for job in mining.jobs]
    workers = workers or default_workers(todo)
    if mining.done:
        told.print(f"{len(mining.done)} of {len(found)} dumps are mined already")
    if todo:
        told.print(f"{workers} workers, up to {memory_per_worker(todo) / 2**30:.1f} GiB of memory each")
    mined = mine_with_bar(mining, workers, executor.value, master, told)
    _tell(mined, work)
    missing = list(missing_subreddits(mining, mined, named=bool(subreddit)))
    for line in missing:
        typer.echo(line, err=True)
    if mined.damaged or missing:
        raise typer.Exit(1)


def _tell(mined: Mined, work: Path) -> None:
    for kind, counts in mined.counts().items():
        left_out = ", ".join(f"{n:,} {reason}" for reason, n in counts.dropped.items())
        typer.echo(f"{kind}: {counts.kept:,} of {counts.seen:,} lines kept" + (f" ({left_out})" if left_out else ""))
    for kind, counts in mined.withdrawn().items():
        by_sign = ", ".join(f"{n:,} {sign}" for sign, n in counts.dropped.items())
        typer.echo(f"{kind}: {counts.seen:,} of the lines kept, whose texts are not stored ({by_sign})")
    for report in mined.damaged:
        typer.echo(f"DAMAGED {report.path}: {report.damage}; fetch it again", err=True)
    typer.echo(f"{mined.n_new} dumps mined, {len(mined.reports) - mined.n_new} were there -> {work / 'bronze'}")
