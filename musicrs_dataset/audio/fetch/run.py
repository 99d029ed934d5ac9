"""A run over many videos: which are due, in which order, when the run stops, and what goes into the ledger."""

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

from ..download_ledger import Entry, Ledger, read_entries
from .cache import AudioStore
from .client import Downloader, MakeClient, Options, StoppedError, Warnings
from .failures import Failure
from .kinds import BOT_CHECK, DISK, NETWORK_DOWN, RATE_LIMIT
from .streak import Streak

HOUR = 3600.0
_FIRST_BACK_OFF, _LAST_BACK_OFF = HOUR / 4, 24 * HOUR
_RESTRICTED = 7 * 24 * HOUR  # restrictions are lifted now and then
_NOT_OF_THE_VIDEO = (RATE_LIMIT, DISK, NETWORK_DOWN)
_ASKED_LAST = {BOT_CHECK.why, RATE_LIMIT.why}  # such a video must not keep a run from the others

Clock = Callable[[], float]


class Outcome(NamedTuple):
    """Result for a video: `failure` is None when its audio is in the cache."""

    video_id: str
    failure: Failure | None


def due(videos: Iterable[str], cache: Path, *, retry_failed: bool = False, now: Clock = time.time) -> list[str]:
    """Find the videos to ask for.

    Args:
        videos: Ids.
        cache: The cache.
        retry_failed: Whether to ask for every video that is not in the cache, also for those that are gone.
        now: Seconds since 1970.

    Returns:
        Each id once, without those in the cache: first videos that were never asked for, then those that failed, then
        those that met a bot check or a rate limit (the least tried first), then those that are gone. Otherwise in the
        given order.
    """
    entries, downloaded, time_now = read_entries(cache), AudioStore(cache).videos(), now()

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


def fetch(
    videos: Sequence[str], cache: Path, options: Options, make_client: MakeClient, *, now: Clock = time.time
) -> Iterator[Outcome]:
    """Download videos into a cache.

    A failure whose kind `stops` is the last outcome, but for those of downloads that were under way: the server asks
    for a pause, the disk is full, five connections broke in a row, or ten videos in a row failed in the same way (see
    `Streak`). Closing the iterator breaks off the downloads under way; the next run continues them.

    Args:
        videos: Ids of different videos.
        cache: The cache; made if missing.
        options: How to ask.
        make_client: Makes yt-dlp's client from its parameters; see `client.youtube`.
        now: Seconds since 1970.

    Yields:
        The outcome of each video when it is on disk and in the ledger, in the order in which they end.

    Raises:
        UserError: Another process is at work in the cache, its ledger is not one of this program, or yt-dlp refuses the
            options.
    """
    store, stop, idle = AudioStore(cache), Event(), SimpleQueue[Downloader]()
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
        ledger = stack.enter_context(Ledger(cache))
        stack.enter_context(_alone(cache))
        for _ in range(options.workers):
            idle.put(stack.enter_context(Downloader(store, options, stop, make_client, warnings)))
        pool = stack.enter_context(ThreadPoolExecutor(options.workers))
        stack.callback(stop.set)  # before the pool waits for its downloads
        waiting, streak = iter(videos), Streak(bool(store.videos()))
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


def _write(ledger: Ledger, outcome: Outcome, before: Entry | None, now: float) -> None:
    if outcome.failure is None:
        ledger.remove(outcome.video_id)
        return
    kind = outcome.failure.kind
    again = (
        before is not None and before.why == kind.why == RATE_LIMIT.why
    )  # each time at this video: it may be its own
    tries = (before.tries if before else 0) + (again or kind not in _NOT_OF_THE_VIDEO)
    entry = Entry(outcome.video_id, kind.status, kind.why, outcome.failure.detail, tries, now)
    ledger.put(replace(entry, next_try=None if kind.status == "gone" else _next_try(entry)))


def _next_try(entry: Entry) -> float:
    """When to ask for a video again that is not gone; rows of earlier versions name no time for restricted ones."""
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
            f"{cache}: another process downloads into it; wait for it, or give another directory"
        ) from error
