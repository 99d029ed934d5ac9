"""A run of downloads: the due videos and their order, the failures that stop the run, and the entries of the ledger."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from threading import Event
from typing import NamedTuple

from musicrs_metric.errors import UserError

from ..download_ledger import DownloadLedger, Entry, read_entries
from .cache import AudioCache
from .client import Downloader, MakeClient, StoppedError, Warnings
from .failures import Failure, shape
from .kinds import BOT_CHECK, DISK, NETWORK, NETWORK_DOWN, RATE_LIMIT
from .options import FetchOptions

HOUR = 3600.0
EQUAL_IN_A_ROW = 10
_BROKEN_IN_A_ROW = 5  # connections; fewer, because each takes several retries
_FIRST_BACK_OFF, _LAST_BACK_OFF = HOUR / 4, 24 * HOUR
_RESTRICTED = 7 * 24 * HOUR  # owners lift restrictions now and then
_NOT_OF_THE_VIDEO = (RATE_LIMIT, DISK, NETWORK_DOWN)
_ASKED_LAST = {BOT_CHECK.why, RATE_LIMIT.why}  # such a video must not keep a run from the others

Clock = Callable[[], float]


class Outcome(NamedTuple):
    """Result for a video: `failure` is None if its audio is in the cache."""

    video_id: str
    failure: Failure | None


def due(videos: Iterable[str], cache: Path, *, retry_failed: bool = False, now: Clock = time.time) -> list[str]:
    """List the videos that a run must download.

    Args:
        videos: Video ids.
        cache: Folder of the cache.
        retry_failed: True to include every video that is not in the cache, also videos that are gone.
        now: Seconds since 1970.

    Returns:
        Distinct ids, without the videos in the cache: first new videos, then videos that failed, then videos that met a
        bot check or a rate limit (fewest tries first), then videos that are gone. Otherwise in the given order.
    """
    entries, downloaded, time_now = read_entries(cache), AudioCache(cache).videos(), now()

    def is_due(video_id: str) -> bool:
        entry = entries.get(video_id)
        if entry is None or retry_failed:
            return True
        return entry.status != "gone" and _next_try(entry) <= time_now

    def turn(video_id: str) -> tuple[int, int]:
        entry = entries.get(video_id)
        if entry is None:
            return 0, 0
        if entry.status == "gone":
            return 3, 0
        return (2, entry.tries) if entry.why in _ASKED_LAST else (1, 0)

    todo = [video_id for video_id in dict.fromkeys(videos) if video_id not in downloaded and is_due(video_id)]
    return sorted(todo, key=turn)


class Streak:
    """Counts equal failures in a row, a sign that the set-up is wrong and not the videos.

    Reasons are equal if they differ only in the video id and in numbers. Final reasons neither count nor interrupt,
    because they concern one video. The same holds for a video that failed in the same way before, once anything was
    downloaded: a corpus may hold dozens of videos that stay unavailable, and they must not stop every later run. A bot
    check always counts, because it concerns the session.

    Args:
        any_downloaded: True if the cache holds audio already.
    """

    def __init__(self, any_downloaded: bool) -> None:
        self._any_downloaded = any_downloaded
        self._reason, self._equal, self._broken = "", 0, 0

    def add(self, video_id: str, failure: Failure | None, before: Entry | None) -> Failure | None:
        """Count the next outcome.

        Args:
            video_id: The video.
            failure: Failure of the video; None for a download.
            before: Entry of the video in the ledger before this run.

        Returns:
            The failure. Its kind stops the run if enough equal failures came in a row.
        """
        self._broken = self._broken + 1 if failure and failure.kind == NETWORK else 0
        if failure is None:
            self._any_downloaded, self._equal = True, 0
            return None
        if self._broken >= _BROKEN_IN_A_ROW:
            return failure._replace(kind=NETWORK_DOWN, in_a_row=self._broken)
        reason = shape(failure.detail, video_id)
        known = before is not None and shape(before.detail, video_id) == reason
        if failure.kind.status == "gone" or (known and self._any_downloaded and failure.kind != BOT_CHECK):
            return failure
        self._equal = self._equal + 1 if reason == self._reason else 1
        self._reason = reason
        if self._equal < EQUAL_IN_A_ROW:
            return failure
        return failure._replace(kind=failure.kind._replace(stops=True), in_a_row=self._equal)


def fetch(
    videos: Sequence[str], cache: Path, options: FetchOptions, make_client: MakeClient, *, now: Clock = time.time
) -> Iterator[Outcome]:
    """Download videos into a cache.

    The run ends early if the server asks for a pause, the disk is full, five connections broke in a row, or ten videos
    in a row failed in the same way (see `Streak`). Its last outcomes are this failure, whose kind `stops`, and the
    downloads that were under way. Closing the iterator ends the downloads under way; the next run resumes them.

    Args:
        videos: Distinct video ids.
        cache: Folder of the cache; created if missing.
        options: Options of the downloads.
        make_client: Returns a client of yt-dlp for its parameters; see `client.youtube`.
        now: Seconds since 1970.

    Yields:
        The outcome of each video once it is on disk and in the ledger, in the order of completion.

    Raises:
        UserError: Another process uses the cache, the ledger is not a ledger of this program, or yt-dlp refuses the
            options.
    """
    files, stop, idle = AudioCache(cache), Event(), SimpleQueue[Downloader]()
    warnings = Warnings()

    def get(video_id: str, pause_s: float) -> Outcome:
        downloader = idle.get()
        try:
            if stop.wait(pause_s):
                raise StoppedError
            return Outcome(video_id, downloader.get(video_id))
        finally:
            idle.put(downloader)

    with ExitStack() as stack:
        ledger = stack.enter_context(DownloadLedger(cache))
        stack.enter_context(_alone(cache))
        for _ in range(options.workers):
            idle.put(stack.enter_context(Downloader(files, options, stop, make_client, warnings)))
        pool = stack.enter_context(ThreadPoolExecutor(options.workers))
        stack.callback(stop.set)  # before the pool waits for its downloads
        waiting, streak = iter(videos), Streak(bool(files.videos()))
        running = {pool.submit(get, video_id, 0.0) for video_id in islice(waiting, options.workers)}
        while running:
            ended, running = wait(running, return_when=FIRST_COMPLETED)
            for future in ended:
                try:
                    outcome = future.result()
                except StoppedError:
                    continue
                before = ledger.get(outcome.video_id)
                failure = streak.add(*outcome, before)
                if failure and failure.kind.stops:
                    failure = failure._replace(warnings=warnings.take())
                    stop.set()
                outcome = Outcome(outcome.video_id, failure)
                _write(ledger, outcome, before, now())
                if not stop.is_set():
                    running |= {pool.submit(get, video_id, options.sleep_s) for video_id in islice(waiting, 1)}
                yield outcome


def _write(ledger: DownloadLedger, outcome: Outcome, before: Entry | None, now: float) -> None:
    if outcome.failure is None:
        ledger.remove(outcome.video_id)
        return
    kind = outcome.failure.kind
    # A rate limit at the same video each time may be caused by the video.
    again = before is not None and before.why == kind.why == RATE_LIMIT.why
    tries = (before.tries if before else 0) + (again or kind not in _NOT_OF_THE_VIDEO)
    entry = Entry(outcome.video_id, kind.status, kind.why, outcome.failure.detail, tries, now)
    ledger.put(replace(entry, next_try=None if kind.status == "gone" else _next_try(entry)))


def _next_try(entry: Entry) -> float:
    """Time of the next try, if the video is not gone; rows of earlier versions name none for restricted videos."""
    if entry.next_try is not None:
        return entry.next_try
    if entry.status == "restricted":
        return entry.asked_at + _RESTRICTED
    pause = min(_FIRST_BACK_OFF * 4.0 ** (min(entry.tries, 9) - 1), _LAST_BACK_OFF)
    return entry.asked_at + (max(pause, HOUR) if entry.tries == 0 or entry.why in _ASKED_LAST else pause)


@contextmanager
def _alone(cache: Path) -> Iterator[None]:
    from filelock import FileLock, Timeout

    lock = FileLock(cache / ".lock")
    try:
        with lock.acquire(timeout=0):
            yield
    except Timeout as error:
        raise UserError(
            f"{cache}: another process downloads into this cache; wait until it ends, or use another directory"
        ) from error
