"""`python -m builder_scripts audio`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from musicrs_dataset.fetch.asking import Cookies, Limit, Rate, RetryFailed, Sleep, Workers, client_options


def audio(
    work: Annotated[Path, typer.Option(help="Work folder of the corpus.")],
    fetch: Annotated[bool, typer.Option(help="Ask YouTube; without it, write down what is known already.")] = True,
    cookies: Cookies = None,
    sleep: Sleep = 5.0,
    rate: Rate = None,
    workers: Workers = 1,
    limit: Limit = None,
    retry_failed: RetryFailed = False,
) -> None:
    """Download the sound of every link, each video once, and say what is gone: -> audio/, gold/videos.jsonl.

    Run it before annotation, so that people see what is gone, and once more after it for what they added. Exit code 75
    says that it stopped before its end, for a rate limit, a bot check, a disk or a network: start it again later.
    """
    from musicrs_dataset.fetch.cli import TRY_LATER

    from ..layout import Work
    from ..progress import tracking
    from ..telling import tell
    from .run import Asking, TryLaterError, run

    options = client_options(cookies, sleep, rate, workers)
    try:
        manifest, new = run(Work(work), Asking(fetch, options, limit, retry_failed), tracking("Fetching"))
    except TryLaterError as error:
        typer.echo(error, err=True)
        raise typer.Exit(TRY_LATER) from error
    tell(manifest, new, Work(work).videos)
