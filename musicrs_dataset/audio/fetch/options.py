"""Options of every command that downloads videos."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from musicrs_metric.errors import UserError

VIDEOS_AN_HOUR = 300  # YouTube's limit for a visitor without an account

Cookies = Annotated[Path | None, typer.Option(metavar="FILE", help="Cookies of a signed-in browser (Netscape format).")]
Sleep = Annotated[
    float,
    typer.Option(min=0, help=f"Seconds between two videos. YouTube allows about {VIDEOS_AN_HOUR} videos per hour."),
]
Rate = Annotated[int | None, typer.Option(min=1, metavar="KB", help="At most this many kB per second and download.")]
Workers = Annotated[
    int, typer.Option(min=1, max=16, help="Downloads at the same time. YouTube often takes several for a bot.")
]
Limit = Annotated[int | None, typer.Option(min=1, help="Download at most N videos.", metavar="N")]
RetryFailed = Annotated[
    bool,
    typer.Option(
        "--retry-failed",
        help="Try every failed video again now: restricted videos, videos that wait for their next try, and last the "
        "videos that are gone.",
    ),
]
MaxMinutes = Annotated[float | None, typer.Option(min=0.1, help="Skip videos longer than this.")]
MaxMegabytes = Annotated[float | None, typer.Option(min=0.1, help="Skip files larger than this.")]
PassedOn = Annotated[
    list[str] | None,
    typer.Option(
        "--yt-dlp",
        metavar="KEY=VALUE",
        help="An option of yt-dlp, such as player-client=tv,web, extractor-args=youtube:..., proxy=URL, "
        "source-address=IP or cookies-from-browser=firefox. May be repeated.",
    ),
]


@dataclass(frozen=True)
class FetchOptions:
    """Options of a download.

    Attributes:
        cookies: File with the cookies of a signed-in browser, for videos with an age limit.
        sleep_s: Pause after each video, in seconds.
        bytes_per_s: Limit for each download in bytes per second; None for no limit.
        workers: Downloads at the same time.
        timeout_s: Seconds to wait for a silent connection.
        retries: Retries of a broken connection.
        retry_s: Pause before the first retry, in seconds. It doubles with each retry, up to 30 s.
        max_s: Longest video to download, in seconds; None for no limit.
        max_bytes: Largest file to download, in bytes; None for no limit.
        yt_dlp: More parameters of yt-dlp's Python interface. They override the parameters of this program and may hold
            secrets.
    """

    cookies: Path | None = None
    sleep_s: float = 5.0
    bytes_per_s: int | None = None
    workers: int = 1
    timeout_s: float = 20.0
    retries: int = 5
    retry_s: float = 1.0
    max_s: float | None = None
    max_bytes: int | None = None
    yt_dlp: Mapping[str, Any] = field(default_factory=dict, repr=False)


def client_options(
    cookies: Path | None = None,
    sleep: float = 5.0,
    rate: int | None = None,
    workers: int = 1,
    max_minutes: float | None = None,
    max_megabytes: float | None = None,
    passed_on: Sequence[str] | None = None,
) -> FetchOptions:
    """Check the options of a command, and convert them into the options of a download.

    Args:
        cookies: File of cookies, or None.
        sleep: Pause after each video, in seconds.
        rate: Limit in kB per second; None for no limit.
        workers: Downloads at the same time.
        max_minutes: Longest video; None for no limit.
        max_megabytes: Largest file; None for no limit.
        passed_on: `KEY=VALUE` of yt-dlp's options.

    Returns:
        The options of a download.

    Raises:
        UserError: The file of cookies is missing or holds none, or yt-dlp refuses an option.
    """
    from .yt_dlp_options import parse_yt_dlp_options

    if cookies is not None:
        _check_cookies(cookies)
    return FetchOptions(
        cookies,
        sleep,
        None if rate is None else 1000 * rate,
        workers,
        max_s=None if max_minutes is None else 60 * max_minutes,
        max_bytes=None if max_megabytes is None else round(1_000_000 * max_megabytes),
        yt_dlp=parse_yt_dlp_options(passed_on or ()),
    )


def _check_cookies(path: Path) -> None:
    """Refuse a file without cookies; the message shows no line of it, because lines hold secrets."""
    if not path.is_file():
        raise UserError(f"{path}: no such file; expected cookies exported from a browser")
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        lines = []
    has_header = bool(lines) and re.match(r"#( Netscape)? HTTP Cookie File", lines[0])  # yt-dlp requires this line
    if not has_header or not any(
        line.removeprefix("#HttpOnly_").count("\t") == 6 and not line.startswith("# ") for line in lines
    ):
        raise UserError(
            f"{path}: found no cookie; expected a file in Netscape format: its first line is "
            "`# Netscape HTTP Cookie File`, and each cookie has seven columns separated by tabs"
        )
