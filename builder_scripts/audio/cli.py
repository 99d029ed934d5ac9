"""`python -m builder_scripts audio`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def audio(
    work: Annotated[Path, typer.Option(help="Work folder of the corpus.")],
    fetch: Annotated[bool, typer.Option(help="Ask YouTube; without it, write down what is known already.")] = True,
    cookies: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Cookies of a signed-in browser (Netscape format).")
    ] = None,
    sleep: Annotated[
        float, typer.Option(min=0, help="Seconds between two videos; YouTube bears about 300 an hour.")
    ] = 5.0,
    rate: Annotated[int | None, typer.Option(min=1, metavar="KB", help="Most kB a second for each download.")] = None,
    workers: Annotated[
        int, typer.Option(min=1, max=16, help="Downloads at the same time. More than one is often taken for a bot.")
    ] = 1,
    limit: Annotated[int | None, typer.Option(min=1, help="Ask for no more than so many videos.")] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Ask at once for restricted videos too, and for those to try later.")
    ] = False,
) -> None:
    """Download the sound of every link, each video once, and say what is gone: -> audio/, gold/videos.jsonl.

    Run it before annotation, so that people see what is gone, and once more after it for what they added. Exit code 75
    says that it stopped before its end, for a rate limit, a bot check, a disk or a network: start it again later.
    """
    from musicrs_dataset.fetch.cli import TRY_LATER
    from musicrs_dataset.fetch.client import Options
    from musicrs_metric.errors import UserError

    from ..layout import Work
    from ..progress import tracking
    from ..telling import tell
    from .run import Asking, TryLaterError, run

    if cookies is not None and not cookies.is_file():
        raise UserError(f"{cookies}: no such file; expected cookies exported from a browser")
    options = Options(cookies, sleep, None if rate is None else 1000 * rate, workers)
    try:
        manifest, new = run(Work(work), Asking(fetch, options, limit, retry_failed), tracking("Fetching"))
    except TryLaterError as error:
        typer.echo(error, err=True)
        raise typer.Exit(TRY_LATER) from error
    tell(manifest, new, Work(work).videos)
