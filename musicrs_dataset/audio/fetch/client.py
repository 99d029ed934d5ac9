"""Downloads by yt-dlp, one video at a time: the audio alone, in full, into the cache."""

from __future__ import annotations

import io
import logging
import re
import shutil
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from threading import Event, Lock
from types import TracebackType
from typing import Any, Self

from musicrs_metric.errors import UserError

from ...sources import file_sha256
from ..cutting import UnusableAudioError, cut
from .cache import AudioStore
from .failures import Failure, causes, classify, shape
from .kinds import NO_SOUND, TOO_LARGE
from .messages import tidy
from .secrets import Redactor

# The form that decodes twice as fast goes first; both are about as good.
_FORMAT = "bestaudio[ext=m4a]/bestaudio/best"

MakeClient = Callable[[dict[str, Any]], Any]


@dataclass(frozen=True)
class Options:
    """Options of a download.

    Attributes:
        cookies: File with the cookies of a signed-in browser, for videos with an age limit.
        sleep_s: Pause after each video, in seconds. YouTube lets a visitor have about 300 videos an hour.
        bytes_per_s: Most bytes a second for each download; None for no limit.
        workers: Downloads at the same time.
        timeout_s: How long a silent connection is waited for, in seconds.
        retries: How often a connection that breaks is taken up again.
        retry_s: Pause before the first of these, in seconds; doubled for each further one, up to 30 s.
        max_s: Longest video to download, in seconds; None for no limit.
        max_bytes: Largest file to download, in bytes; None for no limit.
        yt_dlp: Further parameters of yt-dlp's Python interface; they replace those of this program and may hold
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


def youtube(parameters: dict[str, Any]) -> Any:
    """Make yt-dlp's client for YouTube, and for YouTube alone."""
    from yt_dlp import YoutubeDL

    return YoutubeDL({**parameters, "allowed_extractors": ["youtube"]})


class Warnings:
    """yt-dlp's own warnings of a run, each once, whatever video it is about; used by several threads."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._lock = Lock()

    def add(self, text: str) -> None:
        """Keep a warning, unless one is there that differs in the video id and numbers only."""
        text = re.sub(r"^(?:\[[\w:+-]+\] )?(?:[\w-]{11}: )?", "", text.strip().removeprefix("WARNING: "))
        with self._lock:
            self._texts.setdefault(shape(text, "\0"), text)

    def take(self) -> tuple[str, ...]:
        """Return the warnings in the order in which they came, and forget them."""
        with self._lock:
            texts, self._texts = tuple(self._texts.values()), {}
        return texts


class StoppedError(Exception):
    """A download that broke off because the run is to end."""


class Downloader:
    """Downloads one video at a time into a cache; use it as a context manager.

    Args:
        store: The files of the cache.
        options: Options of the download.
        stop: Once it is set, a download under way breaks off; the next run continues it.
        make_client: Makes yt-dlp's client from its parameters.
        warnings: Receives yt-dlp's warnings.

    Raises:
        UserError: yt-dlp refuses the options, or cannot read the cookies.
    """

    def __init__(
        self, store: AudioStore, options: Options, stop: Event, make_client: MakeClient, warnings: Warnings
    ) -> None:
        self._store, self._options, self._stop = store, options, stop
        self._redactor = Redactor(options.yt_dlp)
        try:
            self._client = make_client(self._parameters(options, warnings))
            self._redactor.hide(_cookie_values(self._client))
        except Exception as error:  # yt-dlp raises many kinds for options that it finds wrong
            raise UserError(f"yt-dlp does not start with these options: {self._redactor(tidy(str(error)))}") from None

    def __enter__(self) -> Self:
        self._client = self._client.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.__exit__(kind, error, trace)

    def get(self, video_id: str) -> Failure | None:
        """Download a video, or what is still missing of it.

        Args:
            video_id: Its eleven characters.

        Returns:
            None when its audio is in the cache, else the failure, without secrets of the options.

        Raises:
            StoppedError: The run is to end.
        """
        from yt_dlp.utils import DownloadCancelled

        folder = self._store.partial(video_id)
        self._client.params["outtmpl"] = {"default": f"{folder}/".replace("%", "%%") + "%(format_id)s.%(ext)s"}
        try:
            info = self._extract(video_id, folder)
            file = Path(info["requested_downloads"][0]["filepath"])
            cut(file, 0.0, 1.0)
            self._store.admit(video_id, file, _about(video_id, file, info))
        except DownloadCancelled as error:
            raise StoppedError from error
        except UnusableAudioError as error:
            shutil.rmtree(folder)  # it would be found whole the next time
            return Failure(NO_SOUND, self._redactor(str(error)))
        except Exception as error:  # pages change, and yt-dlp fails in any way: counted as a failure and reported
            failure = classify(error, self._redactor)
            if failure.kind == TOO_LARGE:
                shutil.rmtree(folder, ignore_errors=True)
            with suppress(OSError):  # what has arrived stays
                folder.rmdir()
            return failure
        return None

    def _extract(self, video_id: str, folder: Path) -> dict[str, Any]:
        from yt_dlp.utils import DownloadError

        link = f"https://www.youtube.com/watch?v={video_id}"  # names no playlist, and is never taken for an option
        try:
            info: dict[str, Any] = self._client.extract_info(link)
        except DownloadError as error:
            if not _mend_part(error, folder):
                raise
            info = self._client.extract_info(link)
        return info

    def _parameters(self, options: Options, warnings: Warnings) -> dict[str, Any]:
        pauses = dict.fromkeys(("http", "fragment", "extractor"), lambda n: min(options.retry_s * 2**n, 30.0))
        return {
            "format": _FORMAT,
            "noplaylist": True,
            "match_filter": self._refuse,
            "fixup": "never",  # needs FFmpeg's program; our decoders read the files as they are sent
            "updatetime": False,
            "retries": options.retries,
            "fragment_retries": options.retries,
            "extractor_retries": min(options.retries, 3),
            "retry_sleep_functions": pauses,
            "socket_timeout": options.timeout_s,
            "sleep_interval_requests": 0.75 if options.sleep_s else 0,
            "ratelimit": options.bytes_per_s,
            "cookiefile": None if options.cookies is None else str(options.cookies),
            **options.yt_dlp,
            "progress_hooks": [self._break_off],
            "quiet": True,
            "noprogress": True,
            "logger": _Log(warnings, self._redactor),
        }

    def _break_off(self, progress: dict[str, Any]) -> None:
        from yt_dlp.utils import DownloadCancelled, ExtractorError

        if self._stop.is_set():
            raise DownloadCancelled
        most = self._options.max_bytes
        size = max(progress.get("total_bytes") or 0, progress.get("downloaded_bytes") or 0)
        if most is not None and size > most:
            raise ExtractorError(f"{size / 1e6:.1f} MB, more than --max-megabytes {most / 1e6:g}", expected=True)

    def _refuse(self, info: dict[str, Any], *, incomplete: bool = False) -> None:  # noqa: ARG002 - yt-dlp's interface
        from yt_dlp.utils import ExtractorError

        if info.get("live_status") in ("is_live", "is_upcoming") or info.get("is_live"):
            raise ExtractorError("a live stream that has not ended", expected=True)
        seconds, most = info.get("duration") or 0, self._options.max_s
        if most is not None and seconds > most:
            raise ExtractorError(f"{seconds / 60:.1f} minutes, more than --max-minutes {most / 60:g}", expected=True)


class _Log:
    """Keeps yt-dlp's messages off the terminal, where they would break the progress bar; errors come as exceptions."""

    def __init__(self, warnings: Warnings, redactor: Redactor) -> None:
        self._warnings, self._redactor = warnings, redactor

    def debug(self, message: str) -> None:
        logging.getLogger(__name__).debug(self._redactor(message))

    def warning(self, message: str) -> None:
        self._warnings.add(self._redactor(tidy(message)))
        self.debug(message)

    info = error = debug


def _cookie_values(client: Any) -> list[str]:
    """Values of the client's cookies, which are read here; what yt-dlp prints of damaged lines would show them."""
    with redirect_stderr(io.StringIO()):
        return [str(cookie.value) for cookie in getattr(client, "cookiejar", None) or ()]


def _mend_part(error: BaseException, folder: Path) -> bool:
    """Whether an error was that yt-dlp wanted more of a file that a killed process had all but named, and is mended."""
    from yt_dlp.networking.exceptions import HTTPError

    parts = list(folder.glob("*.part"))
    refused = [cause for cause in causes(error) if isinstance(cause, HTTPError) and cause.status == 416]
    for part in parts if refused else []:
        if refused[0].response.headers.get("Content-Range") == f"bytes */{part.stat().st_size}":
            part.rename(part.with_suffix(""))
        else:  # not what the server has now
            part.unlink()
    return bool(parts and refused)


def _about(video_id: str, file: Path, info: dict[str, Any]) -> dict[str, Any]:
    names = ("title", "channel", "duration", "format_id", "acodec", "abr", "language")
    return {
        "video_id": video_id,
        **{name: _writable(info.get(name)) for name in names},
        "bytes": file.stat().st_size,
        "sha256": file_sha256(file),
        "yt_dlp": version("yt-dlp"),
        "fetched_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _writable(value: Any) -> Any:
    """The value, with halves of characters, which titles cut off by a program end in, replaced."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
