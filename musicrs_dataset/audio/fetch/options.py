"""Options of every command that downloads videos."""

from __future__ import annotations

import re
from collections.abc import Sequence
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
Rate = Annotated[int | None, typer.Option(min=1, metavar="KB", help="Most kB per second for each download.")]
Workers = Annotated[
    int, typer.Option(min=1, max=16, help="Downloads at the same time. More than one is often taken for a bot.")
]
Limit = Annotated[int | None, typer.Option(min=1, help="Download at most N videos.", metavar="N")]
RetryFailed = Annotated[
    bool,
    typer.Option(
        "--retry-failed", help="Ask at once for every video that failed: restricted, to try later, and (last) gone."
    ),
]
MaxMinutes = Annotated[float | None, typer.Option(min=0.1, help="Download no video that is longer than this.")]
MaxMegabytes = Annotated[float | None, typer.Option(min=0.1, help="Download no file that is larger than this.")]
PassedOn = Annotated[
    list[str] | None,
    typer.Option(
        "--yt-dlp",
        metavar="KEY=VALUE",
        help="An option of yt-dlp, such as player-client=tv,web, extractor-args=youtube:..., proxy=URL, "
        "source-address=IP or cookies-from-browser=firefox. May be repeated.",
    ),
]


def client_options(
    cookies: Path | None = None,
    sleep: float = 5.0,
    rate: int | None = None,
    workers: int = 1,
    max_minutes: float | None = None,
    max_megabytes: float | None = None,
    passed_on: Sequence[str] | None = None,
) -> Options:
    """Check the options of a command, and make those of the client of them.

    Args:
        cookies: A file, or None.
        sleep: Seconds.
        rate: kB per second; None for no limit.
        workers: Downloads at the same time.
        max_minutes: Longest video; None for no limit.
        max_megabytes: Largest file; None for no limit.
        passed_on: `KEY=VALUE` of yt-dlp's options.

    Raises:
        UserError: There is no such file of cookies, it holds none, or yt-dlp does not take an option.
    """
    from .client import Options
    from .passed_on import parse_passed_on

    if cookies is not None:
        _check_cookies(cookies)
    return Options(
        cookies,
        sleep,
        None if rate is None else 1000 * rate,
        workers,
        max_s=None if max_minutes is None else 60 * max_minutes,
        max_bytes=None if max_megabytes is None else round(1_000_000 * max_megabytes),
        yt_dlp=parse_passed_on(passed_on or ()),
    )


def _check_cookies(path: Path) -> None:
    """Refuse a file that yt-dlp would read as no cookies; no line of it is shown."""
    if not path.is_file():
        raise UserError(f"{path}: no such file; expected cookies exported from a browser")
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        lines = []
    named = bool(lines) and re.match(r"#( Netscape)? HTTP Cookie File", lines[0])  # yt-dlp wants this line
    if not named or not any(
        line.removeprefix("#HttpOnly_").count("\t") == 6 and not line.startswith("# ") for line in lines
    ):
        raise UserError(
            f"{path}: found no cookie; expected a file in Netscape format: its first line is "
            "`# Netscape HTTP Cookie File`, and each cookie has seven columns separated by tabs"
        )
