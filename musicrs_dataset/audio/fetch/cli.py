"""`python -m musicrs_dataset audio`: download the linked videos, show their status, cut clips into the dataset."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from musicrs_metric.base.output import print_json
from musicrs_metric.base.progress import rough_time, say, track
from musicrs_metric.errors import UserError, count
from musicrs_metric.runs.references import DEFAULT_DATASET

from .options import (
    VIDEOS_AN_HOUR,
    Cookies,
    Limit,
    MaxMegabytes,
    MaxMinutes,
    PassedOn,
    Rate,
    RetryFailed,
    Sleep,
    Workers,
    client_options,
)

if TYPE_CHECKING:
    from rich.console import Console

    from ...records import Thread
    from .run import Outcome
    from .summary import Summary

app = typer.Typer(help="Download the audio of the linked videos, and cut clips from it.", no_args_is_help=True)

TRY_LATER = 75  # EX_TEMPFAIL of sysexits.h
Dataset = Annotated[str, typer.Argument(metavar="D", help="Directory given to `build --out`, or dataset name.")]
Cache = Annotated[Path, typer.Option(metavar="DIR", help="Folder for the downloads and their ledger.")]
Config = Annotated[str, typer.Option(help="Configuration to read links from.")]


@app.command()
def fetch(
    dataset: Dataset,
    cache: Cache,
    cookies: Cookies = None,
    sleep: Sleep = 5.0,
    rate: Rate = None,
    workers: Workers = 1,
    limit: Limit = None,
    retry_failed: RetryFailed = False,
    max_minutes: MaxMinutes = None,
    max_megabytes: MaxMegabytes = None,
    yt_dlp: PassedOn = None,
    config: Config = "query_only",
) -> None:
    """Download the audio of every linked video once. Failed videos are tried again when they are due.

    Exit code 75 means that the run stopped early. The cause is a rate limit, ten equal failures in a row, a full disk
    or a broken network. Start it again later; it resumes there.
    """
    from ..decoding import require
    from . import client
    from .run import due
    from .run import fetch as run
    from .summary import summarise, video_ids, why_stopped

    options = client_options(cookies, sleep, rate, workers, max_minutes, max_megabytes, yt_dlp)
    require("downloads need", "yt_dlp", "soundfile", "soxr")
    threads = _threads(dataset, config)
    todo = due(video_ids(threads), cache, retry_failed=retry_failed)[:limit]
    console = _console()
    if todo:
        due_words = "1 video is" if len(todo) == 1 else f"{len(todo):,} videos are"
        takes = rough_time(3600 * len(todo) / VIDEOS_AN_HOUR)
        say(console, f"{due_words} due; YouTube allows about {VIDEOS_AN_HOUR} per hour, so about {takes}")
    counts: Counter[str] = Counter()
    stopped: Outcome | None = None
    for outcome in track(run(todo, cache, options, client.youtube), "Fetching", len(todo), console):
        counts[outcome.failure.kind.status if outcome.failure else "ok"] += 1
        if outcome.failure and outcome.failure.kind.stops:
            stopped = stopped or outcome
    results = ", ".join(f"{n} {status}" for status, n in sorted(counts.items())) or "none"
    typer.echo(f"{count(len(todo), 'video')} due, {counts.total()} tried: {results}")
    _print(summarise(threads, cache))
    if stopped is not None and stopped.failure is not None:
        for line in why_stopped(stopped.video_id, stopped.failure):
            say(console, line)
        raise typer.Exit(TRY_LATER)


@app.command()
def status(
    dataset: Dataset,
    cache: Cache,
    config: Config = "query_only",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Count the videos of a dataset by status and reason, and print the next steps."""
    from .summary import summarise

    summary = summarise(_threads(dataset, config), cache)
    if as_json:
        print_json(summary.to_dict())
    else:
        _print(summary)


@app.command()
def cut(
    dataset: Annotated[str, typer.Argument(metavar="D", help="Directory given to `build --out`.")],
    cache: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder that `audio fetch` filled, or another folder of audio files.")
    ],
    budget: Annotated[float, typer.Option(help="Seconds that the clips of a thread share. SALMONN takes 30.")] = 300.0,
    seed: Annotated[int, typer.Option(min=0, help="Seed that chooses ten of the links if more are usable.")] = 0,
    install: Annotated[bool, typer.Option(help='Let `load_dataset("musicrs")` find the new clips.')] = True,
) -> None:
    """Cut clips from the downloaded audio into a dataset: min(10, usable links) per thread, which share the budget.

    To resume a stopped command, repeat it: the folder `.clips` in D stores the finished clips until the dataset is
    complete.
    """
    from ...repo.install import install as install_dataset
    from ..clip_plan import ClipPlan
    from ..folder import AudioFolder
    from ..recut import recut

    console = _console()
    audio = AudioFolder(cache, ClipPlan(total_s=budget, seed=seed), keep=_clip_store(dataset))
    folder = recut(dataset, audio, track=lambda threads: track(threads, "Cutting", len(threads), console))
    for line in audio.report.lines():
        say(console, line)
    typer.echo(f"{count(audio.report.clips, 'clip')} -> {folder}")
    if install and folder.name == DEFAULT_DATASET:
        typer.echo(install_dataset(folder))


def _clip_store(dataset: str) -> Path | None:
    """Folder for the clips of a stopped command: in the directory given to `build`, next to the dataset."""
    from musicrs_metric.runs.references import dataset_folder

    folder = dataset_folder(dataset)
    return None if folder is None else folder.parent / ".clips"


def _threads(dataset: str, config: str) -> list[Thread]:
    from ...loading import iter_threads
    from ...mini import load_mini

    threads = list(iter_threads(dataset, config, audio=False))
    if {thread.thread_id for thread in threads} & {thread.thread_id for thread in load_mini(clips=False)}:
        raise UserError(f"{dataset}: a toy with invented videos; it already contains its clips")
    return threads


def _print(summary: Summary) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table("status", "why", "videos", "links", "such as", title="Videos", title_justify="left")
    for row in summary.rows:
        table.add_row(row.status, row.why, str(row.videos), str(row.links), escape(row.example))
    console = Console()
    console.print(table)
    for line in (f"{summary.with_audio} of {summary.threads} threads have audio", *summary.next):
        say(console, line)


def _console() -> Console:
    from rich.console import Console

    return Console(stderr=True)
