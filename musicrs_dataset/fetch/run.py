"""A run over many videos: what is due, one worker or several, when to stop, and what goes into the ledger."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from threading import Event
from typing import NamedTuple

from musicrs_metric.errors import UserError

from .client import Downloader, MakeClient, Options, StoppedError
from .failures import NETWORK, NETWORK_DOWN, NOT_FOUND, REMOVED, Failure
from .ledger import Entry, Ledger, read_entries
from .store import AudioStore

HOUR = 3600.0
_FIRST_BACK_OFF, _LAST_BACK_OFF = HOUR / 4, 24 * HOUR
_BROKEN_IN_A_ROW = 5  # videos after which it is the network that fails, not they
_NOT_FOUND_TRIES = 3  # an address that is not found may come back; a video that never is found has been removed

Clock = Callable[[], float]


class Outcome(NamedTuple):
    """What became of a video: None for `failure` when its sound lies in the cache."""

    video_id: str
    failure: Failure | None


def due(videos: Iterable[str], cache: Path, *, retry_failed: bool = False, now: Clock = time.time) -> list[str]:
    """Find the videos that are worth asking for.

    Args:
        videos: Ids.
        cache: The cache.
        retry_failed: Whether to ask for those too that are restricted or whose next try is later.
        now: Seconds since 1970.

    Returns:
        Each id once, in the order given: not those that are in the cache or gone for good.
    """
    entries, there = read_entries(cache), AudioStore(cache).videos()

    def is_due(video_id: str) -> bool:
        entry = entries.get(video_id)
        if entry is None:
            return True
        if retry_failed:
            return entry.status != "gone"
        return entry.next_try is not None and entry.next_try <= now()

    return [video_id for video_id in dict.fromkeys(videos) if video_id not in there and is_due(video_id)]


def fetch(
    videos: Sequence[str], cache: Path, options: Options, make_client: MakeClient, *, now: Clock = time.time
) -> Iterator[Outcome]:
    """Download videos into a cache.

    A failure whose kind `stops` is the last outcome, but for those of downloads that were under way: the server asks
    for a pause, the disk is full, or so many connections broke in a row that the network must be down. Closing the
    iterator breaks off the downloads under way; they are taken up where they were the next time.

    Args:
        videos: Ids of different videos.
        cache: The cache; made if missing.
        options: How to ask.
        make_client: Makes yt-dlp's client from its parameters; see `client.youtube`.
        now: Seconds since 1970.

    Yields:
        The outcome of each video when it is on disk and in the ledger, in the order in which they end.

    Raises:
        UserError: Another process is at work in the cache, or its ledger is not one of this program.
    """
    store, stop, idle = AudioStore(cache), Event(), SimpleQueue[Downloader]()

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
            idle.put(stack.enter_context(Downloader(store, options, stop, make_client)))
        pool = stack.enter_context(ThreadPoolExecutor(options.workers))
        stack.callback(stop.set)  # before the pool waits for its downloads
        waiting, broken = iter(videos), 0
        running = {pool.submit(get, video_id, 0.0) for video_id in islice(waiting, options.workers)}
        while running:
            ended, running = wait(running, return_when=FIRST_COMPLETED)
            for future in ended:
                try:
                    outcome = future.result()
                except StoppedError:
                    continue
                broken = broken + 1 if outcome.failure and outcome.failure.kind == NETWORK else 0
                if outcome.failure and broken >= _BROKEN_IN_A_ROW:
                    outcome = Outcome(outcome.video_id, outcome.failure._replace(kind=NETWORK_DOWN))
                _write(ledger, outcome, now())
                if outcome.failure and outcome.failure.kind.stops:
                    stop.set()
                if not stop.is_set():
                    running |= {pool.submit(get, video_id, options.sleep_s) for video_id in islice(waiting, 1)}
                yield outcome


def _write(ledger: Ledger, outcome: Outcome, now: float) -> None:
    if outcome.failure is None:
        ledger.remove(outcome.video_id)
        return
    kind, before = outcome.failure.kind, ledger.entries().get(outcome.video_id)
    # What stops a run is not the video's fault.
    tries = (before.tries if before else 0) + (not kind.stops)
    if kind == NOT_FOUND and tries >= _NOT_FOUND_TRIES:
        kind = REMOVED
    pause = HOUR if kind.stops else min(_FIRST_BACK_OFF * 4 ** (tries - 1), _LAST_BACK_OFF)
    next_try = now + pause if kind.status == "retry" else None
    ledger.put(Entry(outcome.video_id, kind.status, kind.why, outcome.failure.detail, tries, now, next_try))


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
