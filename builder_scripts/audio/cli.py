"""`python -m builder_scripts audio`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from musicrs_dataset.audio.fetch.options import (
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


def audio(
    work: Annotated[Path, typer.Option(help="Work folder of the corpus.")],
    fetch: Annotated[bool, typer.Option(help="Ask YouTube; without it, write down what is known already.")] = True,
    cookies: Cookies = None,
    sleep: Sleep = 5.0,
    rate: Rate = None,
    workers: Workers = 1,
    limit: Limit = None,
    retry_failed: RetryFailed = False,
    max_minutes: MaxMinutes = None,
    max_megabytes: MaxMegabytes = None,
    yt_dlp: PassedOn = None,
) -> None:
    """Download the audio of every link, each video once, and list the status of each: -> audio/, gold/videos.jsonl.

    Run it before annotation, so that annotators see which videos are gone, and once more for the links that they add.
    Exit code 75 means that it stopped early: a rate limit, ten equal failures in a row, a full disk or a network that
    is down. Start it again later; it resumes there.
    """
    from musicrs_dataset.audio.fetch.cli import TRY_LATER

    from ..layout import Work
    from ..pipeline.stage import tell
    from ..progress import tracking
    from .run import Asking, TryLaterError, run

    options = client_options(cookies, sleep, rate, workers, max_minutes, max_megabytes, yt_dlp)
    try:
        manifest, new = run(Work(work), Asking(fetch, options, limit, retry_failed), tracking("Fetching"))
    except TryLaterError as error:
        typer.echo(error, err=True)
        raise typer.Exit(TRY_LATER) from error
    tell(manifest, new, Work(work).videos)
