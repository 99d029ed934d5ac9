"""Status of a dataset's videos in a cache, with the next steps, and the advice after a run that stopped early."""

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
from .cache import AudioCache, is_video_id
from .failures import Failure
from .kinds import BOT_CHECK, DISK, NETWORK, RATE_LIMIT, TOO_LARGE
from .run import Clock

_ORDER: list[LinkStatus] = ["ok", "new", "retry", "restricted", "gone"]
_WHAT_TO_DO = {
    BOT_CHECK.why: "wait an hour or give --cookies, then start it again",
    DISK.why: "free some space or give another --cache, then start it again",
    NETWORK.why: "check the network, then start it again",
    RATE_LIMIT.why: "wait an hour, then start it again",
}
# Each with the option that changes it.
_WHAT_MAY_BE_WRONG = (
    "the client (update yt-dlp, or --yt-dlp player-client=NAMES)",
    "the cookies (--cookies FILE, or --yt-dlp cookies-from-browser=NAME)",
    "a missing PO token (a provider plugin, or --yt-dlp po-token=TOKEN)",
    "the JavaScript runtime (pip install 'yt-dlp[default,deno]', or --yt-dlp js-runtimes=node)",
    "the address of this machine (--yt-dlp proxy=URL or source-address=IP)",
)
_WARNINGS = 10


@dataclass(frozen=True)
class StatusRow:
    """Videos of one status for one reason.

    Attributes:
        status: `ok`, `new` (no download was tried), `gone`, `restricted` or `retry`.
        why: The reason in one or two words; "" for `ok` and `new`.
        videos: Number of distinct videos.
        links: Number of links to them.
        example: One of the videos, with its reason as stated.
    """

    status: LinkStatus
    why: str
    videos: int
    links: int
    example: str


@dataclass(frozen=True)
class Summary:
    """Status of a dataset's videos in a cache.

    Attributes:
        rows: One per status and reason, `ok` first.
        threads: Number of threads in the dataset.
        with_audio: Threads with at least one video in the cache.
        next: Next steps, one line each.
    """

    rows: tuple[StatusRow, ...]
    threads: int
    with_audio: int
    next: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        return asdict(self)


def video_ids(threads: Sequence[Thread]) -> list[str]:
    """List the distinct videos that threads link to, in dataset order, without texts that are no video id."""
    ids = dict.fromkeys(link.video_id for thread in threads for link in thread.links)
    return [video_id for video_id in ids if is_video_id(video_id)]


def summarise(threads: Sequence[Thread], cache: Path, now: Clock = time.time) -> Summary:
    """Count the videos of a dataset by status and reason.

    Args:
        threads: Threads of the dataset.
        cache: Folder of the cache, which may be missing.
        now: Seconds since 1970.

    Returns:
        The summary; a text that names no video counts as `gone`.
    """
    entries, downloaded = read_entries(cache), AudioCache(cache).videos()
    links = Counter(link.video_id for thread in threads for link in thread.links)

    groups: dict[tuple[LinkStatus, str], list[Entry]] = defaultdict(list)
    for video_id in links:
        entry = entries.get(video_id, Entry(video_id, "new"))
        if video_id in downloaded:
            entry = Entry(video_id, "ok")
        elif not is_video_id(video_id):
            entry = Entry(video_id, "gone", "no video id")
        groups[entry.status, entry.why].append(entry)
    rows = [
        StatusRow(status, why, len(group), sum(links[entry.video_id] for entry in group), _example(group[0]))
        for (status, why), group in sorted(groups.items(), key=lambda item: (_ORDER.index(item[0][0]), -len(item[1])))
    ]
    with_audio = sum(any(link.video_id in downloaded for link in thread.links) for thread in threads)
    return Summary(tuple(rows), len(threads), with_audio, tuple(_next_steps(chain(*groups.values()), now())))


def why_stopped(video_id: str, failure: Failure) -> list[str]:
    """Describe a failure that stopped a run.

    Args:
        video_id: Id of the failed video.
        failure: The failure, with yt-dlp's warnings.

    Returns:
        One line with the reason and the remedy, then one line per warning, at most 10.
    """
    kind, detail, in_a_row, warnings = failure
    reason = f"{kind.why} at {video_id} ({detail})"
    remedy = _WHAT_TO_DO.get(kind.why, "wait an hour, then start it again")
    if in_a_row and kind.why != NETWORK.why:
        reason = f"{in_a_row} equal failures in a row, the last: {reason}"
        remedy = f"the videos are probably not the cause; check {'; '.join(_WHAT_MAY_BE_WRONG)}; " + _WHAT_TO_DO.get(
            kind.why, "then start it again"
        )
    lines = [f"stopped: {reason}; {remedy}", *(f"yt-dlp warns: {text}" for text in warnings[:_WARNINGS])]
    if len(warnings) > _WARNINGS:
        lines.append(f"yt-dlp gave {len(warnings) - _WARNINGS} more warnings")
    return lines


def _example(entry: Entry) -> str:
    return f"{entry.video_id}: {entry.detail}" if entry.detail else entry.video_id


def _next_steps(entries: Iterable[Entry], now: float) -> Iterator[str]:
    by_status: dict[LinkStatus, list[Entry]] = defaultdict(list)
    for entry in entries:
        by_status[entry.status].append(entry)
    retry, restricted = by_status["retry"], by_status["restricted"]
    if by_status["new"]:
        yield f"`audio fetch` downloads {count(len(by_status['new']), 'video')} for the first time"
    if retry:
        wait = min(entry.next_try or now for entry in retry) - now
        when = f"in {wait / 60:.0f} minutes" if wait > 0 else "at once"
        yield f"`audio fetch` tries {count(len(retry), 'video')} again, the first {when}"
    too_large = sum(entry.why == TOO_LARGE.why for entry in restricted)
    if len(restricted) > too_large:
        videos = count(len(restricted) - too_large, "restricted video")
        yield f"`audio fetch --retry-failed --cookies FILE` may download {videos}"
    if too_large:
        yield f"`audio fetch --retry-failed` with higher limits downloads {count(too_large, 'longer or larger video')}"
    if by_status["ok"]:
        yield "`audio cut` cuts clips of the downloaded audio into the dataset"
