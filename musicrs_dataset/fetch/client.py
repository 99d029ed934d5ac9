"""One video after the other by yt-dlp: the sound alone, the whole of it, into the cache."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from threading import Event
from types import TracebackType
from typing import Any, Self

from ..cutting import UnusableAudioError, cut
from ..sources import file_sha256
from .failures import NO_SOUND, Failure, causes, classify
from .store import AudioStore

# The form that decodes twice as fast goes first; both are about as good.
_FORMAT = "bestaudio[ext=m4a]/bestaudio/best"

MakeClient = Callable[[dict[str, Any]], Any]


@dataclass(frozen=True)
class Options:
    """How to ask.

    Attributes:
        cookies: File with the cookies of a signed-in browser, for videos with an age limit.
        sleep_s: Pause after each video, in seconds. YouTube lets a visitor have about 300 videos an hour.
        bytes_per_s: Most bytes a second for each download; None for no limit.
        workers: Downloads at the same time.
        timeout_s: How long a silent connection is waited for, in seconds.
        retries: How often a connection that breaks is taken up again.
        retry_s: Pause before the first of these, in seconds; doubled for each further one, up to 30 s.
    """

    cookies: Path | None = None
    sleep_s: float = 5.0
    bytes_per_s: int | None = None
    workers: int = 1
    timeout_s: float = 20.0
    retries: int = 5
    retry_s: float = 1.0


def youtube(parameters: dict[str, Any]) -> Any:
    """Make yt-dlp's client for YouTube, and for YouTube alone."""
    from yt_dlp import YoutubeDL

    return YoutubeDL({**parameters, "allowed_extractors": ["youtube"]})


class StoppedError(Exception):
    """A download that broke off because the run is to end."""


class Downloader:
    """Downloads one video at a time into a cache; use it as a context manager.

    Args:
        store: The files of the cache.
        options: How to ask.
        stop: Once it is set, a download under way breaks off, to be taken up another time.
        make_client: Makes yt-dlp's client from its parameters.
    """

    def __init__(self, store: AudioStore, options: Options, stop: Event, make_client: MakeClient) -> None:
        self._store, self._stop = store, stop
        self._client = make_client(self._parameters(options))

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
            None when its sound lies in the cache, or else why it does not.

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
            return Failure(NO_SOUND, str(error))
        except Exception as error:  # pages change, and yt-dlp stumbles in any way: counted as a failure, and told
            with suppress(OSError):  # what has arrived stays
                folder.rmdir()
            return classify(error)
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

    def _parameters(self, options: Options) -> dict[str, Any]:
        pauses = dict.fromkeys(("http", "fragment", "extractor"), lambda n: min(options.retry_s * 2**n, 30.0))
        return {
            "format": _FORMAT,
            "noplaylist": True,
            "match_filter": _refuse_live,
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
            "progress_hooks": [self._break_off],
            "quiet": True,
            "noprogress": True,
            "logger": _Log(),
        }

    def _break_off(self, progress: dict[str, Any]) -> None:  # noqa: ARG002
        from yt_dlp.utils import DownloadCancelled

        if self._stop.is_set():
            raise DownloadCancelled


class _Log:
    """Keeps yt-dlp's messages off the terminal, where they would break the progress bar; errors come as exceptions."""

    def debug(self, message: str) -> None:
        logging.getLogger(__name__).debug(message)

    info = warning = error = debug


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


def _refuse_live(info: dict[str, Any], *, incomplete: bool = False) -> None:  # noqa: ARG001 - yt-dlp's interface
    from yt_dlp.utils import ExtractorError

    if info.get("live_status") in ("is_live", "is_upcoming") or info.get("is_live"):
        raise ExtractorError("a live stream that has not ended", expected=True)


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
