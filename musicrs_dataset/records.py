"""Typed records of a thread. Every importer returns them, and every writer takes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

LinkStatus = Literal["new", "ok", "gone", "restricted", "retry"]


@dataclass(frozen=True, slots=True)
class Entities:
    """Songs, artists and albums that a text names.

    Attributes:
        songs: Song titles, as extracted.
        artists: Artist names.
        albums: Album titles.
    """

    songs: tuple[str, ...] = ()
    artists: tuple[str, ...] = ()
    albums: tuple[str, ...] = ()

    def map(self, change: Callable[[str], str]) -> Entities:
        """Change every name."""
        return Entities(*(tuple(map(change, names)) for names in (self.songs, self.artists, self.albums)))


@dataclass(frozen=True, slots=True)
class Comment:
    """A top-level reply.

    Attributes:
        id: Reddit name, `t1_...`.
        score: Upvotes minus downvotes at the time of capture; None if the file has none.
        entities: Entities that the reply recommends.
    """

    id: str
    score: float | None
    entities: Entities


@dataclass(frozen=True, slots=True)
class Link:
    """A YouTube link of the post, after repair.

    Attributes:
        video_id: Id of the video, 11 characters.
        start_s: Start of the link in the video, in seconds.
        url: The link as in the source file, with its damage.
        status: Status of the audio; `new` until a download is tried.
    """

    video_id: str
    start_s: float
    url: str
    status: LinkStatus = "new"


@dataclass(frozen=True, slots=True)
class Clip:
    """An audio excerpt of one link.

    Attributes:
        audio: Bytes of a mono audio file that soundfile reads.
        name: File name of the bytes.
        video_id: Id of the video.
        start_s: Start in the video, in seconds.
        duration_s: Length in seconds.
        rms_dbfs: Loudness: root mean square in dB relative to full scale, -120 for digital silence; None if unknown.
        sha256: Hash of `audio` in hexadecimal; None if unknown.
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
    """One Reddit thread: its post, replies, links, pool and ground truth.

    Attributes:
        thread_id: Reddit name, `t3_...`; the key in all files.
        subreddit: Subreddit of the post.
        genre: One of `musicrs_metric.base.genres.GENRES`; other corpora have other genres.
        query: Text request, derived from the post; None in `audio_only`.
        post: Text of the post; None in `audio_only`.
        submission_entities: Entities that the post names.
        comments: Top-level replies with their entities, in file order.
        candidates: The pool, in stored (shuffled) order; 55 to 100 candidates in the published file.
        ground_truth: Up to 10 candidates, most upvoted first; empty in 5 published threads.
        all_entities: Every entity of the replies (the published `ground_truth`), for audits.
        links: Repaired YouTube links, in file order.
        clips: Audio; empty if no link has usable audio, None if the configuration has no audio.
        columns: Further labels as (column, label), such as the dialogue and the turn; the same columns in all threads
            of a dataset. MusiCRS has none.
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
    columns: tuple[tuple[str, str], ...] = ()

    def without_labels(self) -> Thread:
        """Return the thread as a system may read it: without ground truth, replies and entity list."""
        return replace(self, comments=(), ground_truth=(), all_entities=())
