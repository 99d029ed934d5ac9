"""How a dataset stands with a cache: what its videos came to, why, and what to do next."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from musicrs_metric.errors import count

from ...records import LinkStatus, Thread
from ..download_ledger import Entry, read_entries
from .cache import AudioStore, is_video_id
from .kinds import TOO_LARGE
from .run import Clock

_ORDER: list[LinkStatus] = ["ok", "new", "retry", "restricted", "gone"]


@dataclass(frozen=True)
class Row:
    """Videos of one status for one reason.

    Attributes:
        status: `ok`, `new` (never asked for), `gone`, `restricted` or `retry`.
        why: The reason in a word or two; "" for `ok` and `new`.
        videos: Different videos.
        links: Links to them.
        example: One of them, with the reason as it was told.
    """

    status: LinkStatus
    why: str
    videos: int
    links: int
    example: str


@dataclass(frozen=True)
class Summary:
    """How a dataset stands with a cache.

    Attributes:
        rows: One for each status and reason, `ok` first.
        threads: Threads of the dataset.
        with_audio: Those with at least one video in the cache.
        next: What to do next, one line each.
    """

    rows: tuple[Row, ...]
    threads: int
    with_audio: int
    next: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        return asdict(self)


def video_ids(threads: Sequence[Thread]) -> list[str]:
    """List the different videos that threads link to, in dataset order; what is no video id is left out."""
    ids = dict.fromkeys(link.video_id for thread in threads for link in thread.links)
    return [video_id for video_id in ids if is_video_id(video_id)]


def summarise(threads: Sequence[Thread], cache: Path, now: Clock = time.time) -> Summary:
    """Look up what the videos of a dataset came to.

    Args:
        threads: Its threads.
        cache: The cache, which need not exist yet.
        now: Seconds since 1970.

    Returns:
        The summary; text that names no video counts as `gone`.
    """
    entries, there = read_entries(cache), AudioStore(cache).videos()
    links = Counter(link.video_id for thread in threads for link in thread.links)

    found: dict[tuple[LinkStatus, str], list[Entry]] = defaultdict(list)
    for video_id in links:
        entry = entries.get(video_id, Entry(video_id, "new"))
        if video_id in there:
            entry = Entry(video_id, "ok")
        elif not is_video_id(video_id):
            entry = Entry(video_id, "gone", "no video id")
        found[entry.status, entry.why].append(entry)
    rows = [
        Row(status, why, len(those), sum(links[one.video_id] for one in those), _example(those[0]))
        for (status, why), those in sorted(found.items(), key=lambda item: (_ORDER.index(item[0][0]), -len(item[1])))
    ]
    with_audio = sum(any(link.video_id in there for link in thread.links) for thread in threads)
    return Summary(tuple(rows), len(threads), with_audio, tuple(_next_steps(chain(*found.values()), now())))


def _example(entry: Entry) -> str:
    return f"{entry.video_id}: {entry.detail}" if entry.detail else entry.video_id


def _next_steps(entries: Iterable[Entry], now: float) -> Iterator[str]:
    of: dict[LinkStatus, list[Entry]] = defaultdict(list)
    for entry in entries:
        of[entry.status].append(entry)
    if of["new"]:
        yield f"`audio fetch` asks for {count(len(of['new']), 'video')} for the first time"
    if of["retry"]:
        wait = min(entry.next_try or now for entry in of["retry"]) - now
        when = f"in {wait / 60:.0f} minutes" if wait > 0 else "at once"
        yield f"`audio fetch` tries {count(len(of['retry']), 'video')} again, the first {when}"
    limited = sum(entry.why == TOO_LARGE.why for entry in of["restricted"])
    if len(of["restricted"]) > limited:
        restricted = count(len(of["restricted"]) - limited, "restricted video")
        yield f"`audio fetch --retry-failed --cookies FILE` may get {restricted}"
    if limited:
        yield f"`audio fetch --retry-failed` with higher limits gets {count(limited, 'longer or larger video')}"
    if of["ok"]:
        yield "`audio cut` puts clips of what is there into the dataset"
