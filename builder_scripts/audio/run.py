"""Stage `audio` on a work folder: ask for what was not asked for yet, and account for every link."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter

from musicrs_dataset.audio.decoding import require as require_libraries
from musicrs_dataset.audio.fetch import client
from musicrs_dataset.audio.fetch.options import FetchOptions
from musicrs_dataset.audio.fetch.run import Outcome, due, fetch
from musicrs_dataset.audio.fetch.summary import video_ids, why_stopped
from musicrs_dataset.records import Thread
from musicrs_metric.errors import count

from ..layout import Work, require
from ..lines import read_lines, write_lines
from ..manifest import Counts, StageManifest, hash_files, is_done, versions_of
from .links import Video, linked_threads, look_up

STAGE = "audio"
Track = Callable[[Iterable[Outcome], int], Iterable[Outcome]]


class TryLaterError(Exception):
    """The downloads stopped early; the message says why and what to do, with one more line per warning of yt-dlp."""


@dataclass(frozen=True)
class Asking:
    """How to ask for videos.

    Attributes:
        fetch: Whether to ask at all; without it what is known already is written down.
        options: See `musicrs_dataset.audio.fetch.options.FetchOptions`.
        limit: The most videos to ask for in this run; None for all.
        retry_failed: Ask at once for every video that failed.
    """

    fetch: bool = True
    options: FetchOptions = field(default_factory=FetchOptions)
    limit: int | None = None
    retry_failed: bool = False


def run(work: Work, asking: Asking, track: Track = lambda outcomes, _: outcomes) -> tuple[StageManifest, bool]:
    """Download what the links name into `audio/`, each video once, and make `gold/videos.jsonl`.

    Before annotation the links are those of the corpus. Run again after it, the stage asks for what people corrected
    or added. What failed before is asked for again when its time has come.

    Args:
        work: The work folder, refined.
        asking: How to ask.
        track: Shows progress over the outcomes, of which there are as many as the second argument says.

    Returns:
        The manifest, and whether anything had to be done.

    Raises:
        UserError: `refine` was not run, or the libraries for downloads are absent.
        TryLaterError: A rate limit, ten equal failures in a row, a full disk or a network that is down.
    """
    began = perf_counter()
    inputs = hash_files((*require((work.corpus,), "refine"), *filter(lambda path: path.is_file(), (work.labels,))))
    threads = linked_threads(work)
    todo: Sequence[str] = ()
    if asking.fetch:
        todo = due(video_ids(threads), work.audio, retry_failed=asking.retry_failed)[: asking.limit]
    if not todo and is_done(work.gold, STAGE, {}, inputs) and _is_told(work, look_up(threads, work.audio)):
        return StageManifest.read(work.gold, STAGE), False
    if todo:
        require_libraries("downloads need", "yt_dlp", "soundfile", "soxr")
        _ask(todo, work, asking.options, track)
    videos = look_up(threads, work.audio)
    write_lines(work.videos, videos)
    manifest = StageManifest(
        stage=STAGE,
        inputs=inputs,
        outputs=hash_files((work.videos,), below=work.gold),
        parameters={},  # what the world answers is no function of them
        counts=count_videos(threads, videos),
        wall_s=perf_counter() - began,
        notes=[f"{count(len(todo), 'video')} asked for in this run, the others before or not at all"],
        versions=versions_of(("yt-dlp", "soundfile", "av")),
    )
    manifest.write(work.gold)
    return manifest, True


def count_videos(threads: Sequence[Thread], videos: Sequence[Video]) -> dict[str, Counts]:
    """Count videos, links, and the threads that have at least one video to hear."""
    why = {video.video_id: "" if video.status == "ok" else _reason(video) for video in videos}
    links = Counter(why.get(link.video_id, "no video") for thread in threads for link in thread.links)
    heard = Counter(
        "" if any(why.get(link.video_id) == "" for link in thread.links) else "nothing to hear" for thread in threads
    )
    return {"videos": _counts(Counter(why.values())), "links": _counts(links), "threads": _counts(heard)}


def _reason(video: Video) -> str:
    if video.status == "new":
        return "not asked for"
    return f"{video.status}: {video.why}" if video.why else video.status


def _counts(total: Counter[str]) -> Counts:
    return Counts(total.total(), total[""], {reason: n for reason, n in total.most_common() if reason})


def _is_told(work: Work, videos: Sequence[Video]) -> bool:
    """Whether the file says what is known: sound may have come by other ways since."""
    return read_lines(work.videos, Video) == videos


def _ask(todo: Sequence[str], work: Work, options: FetchOptions, track: Track) -> None:
    stopped: Outcome | None = None
    for outcome in track(_outcomes(todo, work, options), len(todo)):
        if outcome.failure and outcome.failure.kind.stops:
            stopped = stopped or outcome
    if stopped is not None and stopped.failure is not None:
        raise TryLaterError("\n".join(why_stopped(stopped.video_id, stopped.failure)))


def _outcomes(todo: Sequence[str], work: Work, options: FetchOptions) -> Iterator[Outcome]:
    return fetch(todo, work.audio, options, client.youtube)
