"""The embedded mini dataset: a toy of 28 invented threads, for demonstrations and tests.

Every artist, title, query and clip is invented. The dataset is small, clean and easier than the benchmark. A score on
it shows that a system runs and uses its input, and says nothing about music.
"""

from __future__ import annotations

import hashlib
from itertools import groupby
from typing import Any

import numpy as np

from musicrs_metric.base.genres import GENRE_OF_SUBREDDIT

from ..records import Clip, Comment, Link, Thread
from .catalogue import Style, data_rows, load_catalogue
from .pools import ToyThread, make_pools
from .synth import Sound

MAX_GROUND_TRUTH = 10


def load_mini(clips: bool = True) -> list[Thread]:
    """Load the mini dataset.

    Args:
        clips: True to synthesise the audio: two clips of 8 to 12 s per thread, 48 kHz mono FLAC. Needs soundfile.

    Returns:
        28 threads, four per genre; without audio, `clips` is None.
    """
    styles = {(style.subreddit, style.name): style for style in load_catalogue()}
    rows = data_rows("threads.jsonl")
    pools: dict[str, tuple[str, ...]] = {}
    for subreddit, group in groupby(rows, key=lambda row: str(row["subreddit"])):
        toy_threads = [ToyThread(row["thread_id"], row["style"], _ground_truth(row)) for row in group]
        pools |= make_pools([style for style in styles.values() if style.subreddit == subreddit], toy_threads)
    return [_thread(row, styles[row["subreddit"], row["style"]], pools[row["thread_id"]], clips) for row in rows]


def _thread(row: dict[str, Any], style: Style, pool: tuple[str, ...], clips: bool) -> Thread:
    links = tuple(_link(link["video_id"], link["start_s"]) for link in row["links"])
    return Thread(
        thread_id=row["thread_id"],
        subreddit=row["subreddit"],
        genre=GENRE_OF_SUBREDDIT[row["subreddit"]],
        query=row["query"],
        post=row["post"],
        submission_entities=tuple(row["submission_entities"]),
        comments=tuple(Comment(c["id"], float(c["score"]), style.select(tuple(c["names"]))) for c in row["comments"]),
        candidates=pool,
        ground_truth=_ground_truth(row),
        all_entities=tuple(name for comment in row["comments"] for name in comment["names"]),
        links=links,
        clips=tuple(_clip(link, style.sound.performance(link.video_id)) for link in links) if clips else None,
    )


def _ground_truth(row: dict[str, Any]) -> tuple[str, ...]:
    """Take the names of the most upvoted replies, as the benchmark does."""
    ranked = sorted(row["comments"], key=lambda comment: -comment["score"])
    return tuple(name for comment in ranked for name in comment["names"])[:MAX_GROUND_TRUTH]


def _link(video_id: str, start_s: float) -> Link:
    url = f"https://youtu.be/{video_id}?t={start_s:.0f}" if start_s else f"https://www.youtube.com/watch?v={video_id}"
    return Link(video_id, start_s, url)


def _clip(link: Link, sound: Sound) -> Clip:
    from ..audio.cutting import rms_dbfs
    from .synth import flac, synthesise

    samples = synthesise(sound, link.video_id)
    audio = flac(samples)
    digest = hashlib.sha256(audio).hexdigest()
    return Clip(
        audio,
        f"{link.video_id}.flac",
        link.video_id,
        link.start_s,
        sound.seconds,
        rms_dbfs(samples.astype(np.float32)),
        digest,
    )
