"""The embedded mini dataset: a toy of 28 invented conversations, for demonstrations and tests.

Every artist, title, request and sound is made up. It is small, clean and easier than the benchmark: scores on it say
that a system runs and hears something, and nothing about music.
"""

from __future__ import annotations

import hashlib
from itertools import groupby
from typing import Any

import numpy as np

from musicrs_metric.base.genres import GENRE_OF_SUBREDDIT

from ..records import Clip, Comment, Link, Thread
from .catalogue import Style, load_catalogue
from .files import rows
from .pools import Request, make_pools
from .sound import Sound

MAX_GROUND_TRUTH = 10


def load_mini(clips: bool = True) -> list[Thread]:
    """Load the mini dataset.

    Args:
        clips: Whether to synthesise the audio, two clips of 8 to 12 s per thread, 48 kHz mono FLAC; needs soundfile.

    Returns:
        28 threads, four per genre; `clips` is None where no audio was asked for.
    """
    styles = {(style.subreddit, style.name): style for style in load_catalogue()}
    described = rows("threads.jsonl")
    pools: dict[str, tuple[str, ...]] = {}
    for subreddit, group in groupby(described, key=lambda row: str(row["subreddit"])):
        requests = [Request(row["thread_id"], row["style"], _ground_truth(row)) for row in group]
        pools |= make_pools([style for style in styles.values() if style.subreddit == subreddit], requests)
    return [_thread(row, styles[row["subreddit"], row["style"]], pools[row["thread_id"]], clips) for row in described]


def clip_sounds() -> dict[str, Sound]:
    """What each clip of the mini dataset was synthesised from, by video id."""
    sounds = {(style.subreddit, style.name): style.sound for style in load_catalogue()}
    return {
        link["video_id"]: sounds[row["subreddit"], row["style"]].performance(link["video_id"])
        for row in rows("threads.jsonl")
        for link in row["links"]
    }


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
    """The names of the most upvoted comments, as in the benchmark."""
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
