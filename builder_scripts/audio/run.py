"""Stage `audio` on a work folder: download missing videos, and count every link."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from musicrs_dataset.audio.decoding import require as require_libraries
from musicrs_dataset.audio.fetch import client
from musicrs_dataset.audio.fetch.cli import TRY_LATER
from musicrs_dataset.audio.fetch.options import FetchOptions
from musicrs_dataset.audio.fetch.run import Outcome, due, fetch
from musicrs_dataset.audio.fetch.summary import video_ids, why_stopped
from musicrs_dataset.records import Thread
from musicrs_metric.errors import count

from ..layout import Work, require
from ..lines import read_lines, write_lines
from ..manifest import Counts, hash_files
from ..pipeline.stage import StageOutput, StageResult, StoppedError, run_stage
from .links import Video, linked_threads, look_up
from .options import AudioOptions

STAGE = "audio"
Track = Callable[[Iterable[Outcome], int], Iterable[Outcome]]


def run(
    work: Work,
    options: AudioOptions,
    *,
    limit: int | None = None,
    retry_failed: bool = False,
    track: Track = lambda outcomes, _: outcomes,
) -> StageResult:
    """Download the linked videos into `audio/`, each once, and make `gold/videos.jsonl`.

    Before the annotation, the links are those of the corpus. After it, they are those of the labels: the stage then
    downloads the videos that annotators corrected or added. A failed video is tried again when its time has come.

    Args:
        work: The work folder, with the output of `refine`.
        options: Options of the downloads.
        limit: The largest number of videos to download in this run. None for all.
        retry_failed: Try every failed video now.
        track: Shows progress over the outcomes; the second argument is their number.

    Returns:
        The manifest, and whether it is new.

    Raises:
        UserError: `refine` has not been run, or the libraries for downloads are missing.
        StoppedError: A rate limit, ten equal failures in a row, a full disk or a network that is down. The message
            gives the reason, the next step, and one line per warning of yt-dlp.
    """
    client_options = options.client_options()
    inputs = hash_files((*require((work.corpus,), "refine"), *filter(lambda path: path.is_file(), (work.labels,))))
    threads = linked_threads(work)
    todo: Sequence[str] = ()
    if options.fetch:
        todo = due(video_ids(threads), work.audio, retry_failed=retry_failed)[:limit]

    def body(_: Path) -> StageOutput:
        if todo:
            require_libraries("downloads need", "yt_dlp", "soundfile", "soxr")
            _download(todo, work, client_options, track)
        videos = look_up(threads, work.audio)
        write_lines(work.videos, videos)
        note = f"{count(len(todo), 'video')} asked for in this run, the others before or not at all"
        return StageOutput((work.videos,), count_videos(threads, videos), [note])

    # No parameters: the state of YouTube decides the output, not the options.
    return run_stage(
        STAGE, work.gold, inputs, {}, body, packages=("yt-dlp", "soundfile", "av"),
        is_current=lambda _: not todo and read_lines(work.videos, Video) == look_up(threads, work.audio),
    )  # fmt: skip


def count_videos(threads: Sequence[Thread], videos: Sequence[Video]) -> dict[str, Counts]:
    """Count videos, links, and the threads with audio."""
    why = {video.video_id: "" if video.status == "ok" else _reason(video) for video in videos}
    links = Counter(why.get(link.video_id, "no video") for thread in threads for link in thread.links)
    threads_with_audio = Counter(
        "" if any(why.get(link.video_id) == "" for link in thread.links) else "nothing to hear" for thread in threads
    )
    totals = {"videos": Counter(why.values()), "links": links, "threads": threads_with_audio}
    return {kind: Counts.by_reason(dict(total.most_common())) for kind, total in totals.items()}


def _reason(video: Video) -> str:
    if video.status == "new":
        return "not asked for"
    return f"{video.status}: {video.why}" if video.why else video.status


def _download(todo: Sequence[str], work: Work, options: FetchOptions, track: Track) -> None:
    stopped: Outcome | None = None
    for outcome in track(fetch(todo, work.audio, options, client.youtube), len(todo)):
        if outcome.failure and outcome.failure.kind.stops:
            stopped = stopped or outcome
    if stopped is not None and stopped.failure is not None:
        raise StoppedError("\n".join(why_stopped(stopped.video_id, stopped.failure)), TRY_LATER)
