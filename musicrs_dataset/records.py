"""One conversation of the benchmark as a typed record: the form that every importer makes and every writer takes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

LinkStatus = Literal["new", "ok", "gone", "restricted", "retry"]


@dataclass(frozen=True, slots=True)
class Entities:
    """Music that a text names.

    Attributes:
        songs: Song titles, as extracted.
        artists: Artist names.
        albums: Album titles.
    """

    songs: tuple[str, ...] = ()
    artists: tuple[str, ...] = ()
    albums: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Comment:
    """A top-level reply.

    Attributes:
        id: Reddit name, `t1_...`.
        score: Upvotes minus downvotes when the reply was captured; None where the file has none.
        entities: What the reply recommends.
    """

    id: str
    score: float | None
    entities: Entities


@dataclass(frozen=True, slots=True)
class Link:
    """A YouTube link of the submission, after repair.

    Attributes:
        video_id: The 11 characters that name the video.
        start_s: Where the asker's link starts, in seconds.
        url: The link as the source file has it, damage included.
        status: `new` until its audio was asked for.
    """

    video_id: str
    start_s: float
    url: str
    status: LinkStatus = "new"


@dataclass(frozen=True, slots=True)
class Clip:
    """A stretch of audio of one link.

    Attributes:
        audio: A compressed audio file, as bytes that soundfile reads; mono.
        name: File name that goes with the bytes.
        video_id: The video it was cut from.
        start_s: Where in the video it starts, in seconds.
        duration_s: How long it lasts, in seconds.
        rms_dbfs: How loud it is: root mean square in dB relative to full scale, -120 for digital silence; None where it
            was not measured.
        sha256: Hash of `audio` in hexadecimal; None where it was not taken.
    """

    audio: bytes
    name: str
    video_id: str
    start_s: float
    duration_s: float
    rms_dbfs: float | None = None
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class Thread:
    """One conversation: what was asked, what may be recommended, what the community recommended.

    Attributes:
        thread_id: Reddit name, `t3_...`; the key of everything.
        subreddit: Where it was asked.
        genre: One of `musicrs_metric.base.genres.GENRES`; other corpora have others.
        query: The derived request; None in `audio_only`.
        post: The submission text; None in `audio_only`.
        submission_entities: What the asker named.
        comments: Top-level replies with their entities, in file order.
        candidates: The pool, in stored (shuffled) order; 55 to 100 long in the published file.
        ground_truth: Up to 10 candidates, most upvoted first; empty in 5 published threads.
        all_entities: Every entity of the replies (the published `ground_truth`), for audits.
        links: Repaired YouTube links, in file order.
        clips: Audio; empty where none could be had, None where the configuration carries none.
    """

    thread_id: str
    subreddit: str
    genre: str
    query: str | None
    post: str | None
    submission_entities: tuple[str, ...]
    comments: tuple[Comment, ...]
    candidates: tuple[str, ...]
    ground_truth: tuple[str, ...]
    all_entities: tuple[str, ...]
    links: tuple[Link, ...]
    clips: tuple[Clip, ...] | None = None

    def without_labels(self) -> Thread:
        """The thread as a system may see it: no ground truth, no replies, no entity list."""
        return replace(self, comments=(), ground_truth=(), all_entities=())
