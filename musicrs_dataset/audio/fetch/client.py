"""Downloads by yt-dlp into the cache, one video at a time: only the audio, in full length."""

from __future__ import annotations

import io
import logging
import re
import shutil
from collections.abc import Callable
from contextlib import redirect_stderr, suppress
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from threading import Event, Lock
from typing import Any, Self

from musicrs_metric.base.hashing import file_sha256
from musicrs_metric.errors import UserError

from ..cutting import UnusableAudioError, cut
from .cache import AudioCache
from .failures import Failure, causes, classify, shape
from .kinds import NO_SOUND, TOO_LARGE, tidy
from .options import FetchOptions
from .yt_dlp_options import Redactor

# M4A comes first because it decodes twice as fast; both sound about as good.
_FORMAT = "bestaudio[ext=m4a]/bestaudio/best"

MakeClient = Callable[[dict[str, Any]], Any]


def youtube(parameters: dict[str, Any]) -> Any:
    """Return a client of yt-dlp that accepts YouTube only."""
    from yt_dlp import YoutubeDL

    return YoutubeDL({**parameters, "allowed_extractors": ["youtube"]})


class Warnings:
    """Distinct warnings of yt-dlp in a run, over all videos. Safe for several threads."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._lock = Lock()

    def add(self, text: str) -> None:
        """Add a warning, unless an equal one is known. Equal warnings differ only in the video id and in numbers."""
        text = re.sub(r"^(?:\[[\w:+-]+\] )?(?:[\w-]{11}: )?", "", text.strip().removeprefix("WARNING: "))
        with self._lock:
            self._texts.setdefault(shape(text, "\0"), text)

    def take(self) -> tuple[str, ...]:
        """Return the warnings in order of arrival, and clear the list."""
        with self._lock:
            texts, self._texts = tuple(self._texts.values()), {}
        return texts


class StoppedError(Exception):
    """A download that ended early because the run stops."""


class Downloader:
    """Downloads one video at a time into a cache; use it as a context manager.

    Args:
        cache: The cache.
        options: Options of the download.
        stop: If set, a download under way ends; the next run resumes it.
        make_client: Returns a client of yt-dlp for its parameters.
        warnings: Receives yt-dlp's warnings.

    Raises:
        UserError: yt-dlp refuses the options, or cannot read the cookies.
    """

    def __init__(
        self, cache: AudioCache, options: FetchOptions, stop: Event, make_client: MakeClient, warnings: Warnings
    ) -> None:
        self._cache, self._options, self._stop = cache, options, stop
        self._redactor = Redactor(options.yt_dlp)
        try:
            self._client = make_client(self._parameters(options, warnings))
            self._redactor.hide(_cookie_values(self._client))
        except Exception as error:  # yt-dlp raises many classes for options that it refuses
            raise UserError(f"yt-dlp does not start with these options: {self._redactor(tidy(str(error)))}") from None

    def __enter__(self) -> Self:
        self._client = self._client.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._client.__exit__(*error)

    def get(self, video_id: str) -> Failure | None:
        """Download a video, or the missing rest of a download.

        Args:
            video_id: Eleven characters.

        Returns:
            None if the audio is in the cache, else the failure, without secrets of the options.

        Raises:
            StoppedError: The run stops.
        """
        from yt_dlp.utils import DownloadCancelled

        folder = self._cache.partial(video_id)
        self._client.params["outtmpl"] = {"default": f"{folder}/".replace("%", "%%") + "%(format_id)s.%(ext)s"}
        try:
            info = self._extract(video_id, folder)
            file = Path(info["requested_downloads"][0]["filepath"])
            cut(file, 0.0, 1.0)
            self._cache.admit(video_id, file, _about(video_id, file, info))
        except DownloadCancelled as error:
            raise StoppedError from error
        except UnusableAudioError as error:
            shutil.rmtree(folder)  # the next run would take it for complete
            return Failure(NO_SOUND, self._redactor(str(error)))
        except Exception as error:  # pages change, so yt-dlp may raise anything: counted as a failure and reported
            failure = classify(error, self._redactor)
            if failure.kind == TOO_LARGE:
                shutil.rmtree(folder, ignore_errors=True)
            with suppress(OSError):  # a partial download stays
                folder.rmdir()
            return failure
        return None

    def _extract(self, video_id: str, folder: Path) -> dict[str, Any]:
        from yt_dlp.utils import DownloadError

        url = f"https://www.youtube.com/watch?v={video_id}"  # names no playlist, and cannot be read as an option
        try:
            info: dict[str, Any] = self._client.extract_info(url)
        except DownloadError as error:
            if not _repair_part(error, folder):
                raise
            info = self._client.extract_info(url)
        return info

    def _parameters(self, options: FetchOptions, warnings: Warnings) -> dict[str, Any]:
        pauses = dict.fromkeys(("http", "fragment", "extractor"), lambda n: min(options.retry_s * 2**n, 30.0))
        return {
            "format": _FORMAT,
            "noplaylist": True,
            "match_filter": self._refuse,
            "fixup": "never",  # needs the program FFmpeg; the decoders here read the files as sent
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
            "progress_hooks": [self._check_progress],
            "quiet": True,
            "noprogress": True,
            "logger": _Log(warnings, self._redactor),
        }

    def _check_progress(self, progress: dict[str, Any]) -> None:
        from yt_dlp.utils import DownloadCancelled, ExtractorError

        if self._stop.is_set():
            raise DownloadCancelled
        limit = self._options.max_bytes
        size = max(progress.get("total_bytes") or 0, progress.get("downloaded_bytes") or 0)
        if limit is not None and size > limit:
            raise ExtractorError(f"{size / 1e6:.1f} MB, more than --max-megabytes {limit / 1e6:g}", expected=True)

    def _refuse(self, info: dict[str, Any], *, incomplete: bool = False) -> None:  # noqa: ARG002 - yt-dlp's interface
        from yt_dlp.utils import ExtractorError

        if info.get("live_status") in ("is_live", "is_upcoming") or info.get("is_live"):
            raise ExtractorError("a live stream that has not ended", expected=True)
        seconds, limit = info.get("duration") or 0, self._options.max_s
        if limit is not None and seconds > limit:
            raise ExtractorError(f"{seconds / 60:.1f} minutes, more than --max-minutes {limit / 60:g}", expected=True)


class _Log:
    """Logger that keeps yt-dlp's messages from the terminal, where they would break the progress bar."""

    def __init__(self, warnings: Warnings, redactor: Redactor) -> None:
        self._warnings, self._redactor = warnings, redactor

    def debug(self, message: str) -> None:
        logging.getLogger(__name__).debug(self._redactor(message))

    def warning(self, message: str) -> None:
        self._warnings.add(self._redactor(tidy(message)))
        self.debug(message)

    info = error = debug


def _cookie_values(client: Any) -> list[str]:
    """Read the client's cookies without the output of yt-dlp, which would show damaged lines."""
    with redirect_stderr(io.StringIO()):
        return [str(cookie.value) for cookie in getattr(client, "cookiejar", None) or ()]


def _repair_part(error: BaseException, folder: Path) -> bool:
    """Finish a complete file that a killed process did not rename, for which the server answers 416."""
    from yt_dlp.networking.exceptions import HTTPError

    parts = list(folder.glob("*.part"))
    refused = [cause for cause in causes(error) if isinstance(cause, HTTPError) and cause.status == 416]
    for part in parts if refused else []:
        if refused[0].response.headers.get("Content-Range") == f"bytes */{part.stat().st_size}":
            part.rename(part.with_suffix(""))
        else:  # the server has another file now
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
    """Replace halves of characters, which occur in titles that a program cut off."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
