"""How a video site is asked, as options of a command line: those of every command that downloads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from musicrs_metric.errors import UserError

if TYPE_CHECKING:
    from .client import Options

VIDEOS_AN_HOUR = 300  # what a visitor without an account is let have

Cookies = Annotated[Path | None, typer.Option(metavar="FILE", help="Cookies of a signed-in browser (Netscape format).")]
Sleep = Annotated[
    float, typer.Option(min=0, help=f"Seconds between two videos; YouTube bears about {VIDEOS_AN_HOUR} an hour.")
]
Rate = Annotated[int | None, typer.Option(min=1, metavar="KB", help="Most kB a second for each download.")]
Workers = Annotated[
    int, typer.Option(min=1, max=16, help="Downloads at the same time. More than one is often taken for a bot.")
]
Limit = Annotated[int | None, typer.Option(min=1, help="Ask for no more than so many videos.")]
RetryFailed = Annotated[
    bool, typer.Option("--retry-failed", help="Ask at once for restricted videos too, and for those to try later.")
]


def client_options(cookies: Path | None, sleep: float, rate: int | None, workers: int) -> Options:
    """What the client takes of them.

    Args:
        cookies: A file, or None.
        sleep: Seconds.
        rate: kB a second; None for no limit.
        workers: Downloads at the same time.

    Raises:
        UserError: There is no such file.
    """
    from .client import Options

    if cookies is not None and not cookies.is_file():
        raise UserError(f"{cookies}: no such file; expected cookies exported from a browser")
    return Options(cookies, sleep, None if rate is None else 1000 * rate, workers)
