"""Import the authors' published file: JSON lines, read strictly into typed records, with counted repairs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from musicrs_metric.base.genres import GENRE_OF_SUBREDDIT
from musicrs_metric.errors import UserError

from .jsonl import Fields, read_objects
from .records import Comment, Entities, Link, Thread
from .youtube import damage, start_seconds, video_id


@dataclass(frozen=True)
class Repairs:
    """Counts of repaired and dropped links.

    Attributes:
        doubled: Links that contained themselves twice.
        glued: Links with text glued to their id.
        hidden: Links whose `v=` was behind an unfinished `&amp;`.
        dropped: Links that name no video, as (thread id, link).
    """

    doubled: int = 0
    glued: int = 0
    hidden: int = 0
    dropped: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        repaired = f"{self.doubled + self.glued + self.hidden} damaged links repaired"
        kinds = f"({self.doubled} doubled, {self.glued} with a glued tail, {self.hidden} with a hidden id)"
        dropped = "".join(f"; {thread_id}: {url} is no video and was dropped" for thread_id, url in self.dropped)
        return f"{repaired} {kinds}{dropped}"


class Imported(NamedTuple):
    """Threads of a file, in file order, and the repairs of their links."""

    threads: list[Thread]
    repairs: Repairs


def import_upstream(path: str | Path) -> Imported:
    """Read the authors' JSONL file and report its repairs.

    The published names differ from the names of this project. `limited_gt` (up to ten, scored) is `ground_truth` here,
    and `ground_truth` (every entity of the replies) is `all_entities`. `final_candidates` is the pool. The file's
    `candidates` is an older pool of twenty, and is ignored.

    Args:
        path: The file, UTF-8, one JSON object per line.

    Returns:
        The threads and the repairs.

    Raises:
        UserError: A field is not as published; the message names file, line and field.
    """
    threads: dict[str, Thread] = {}
    damages: Counter[str | None] = Counter()
    dropped: list[tuple[str, str]] = []
    for fields in read_objects(path):
        urls = fields.strings("valid_urls")
        thread = _thread(fields, urls)
        if thread.thread_id in threads:
            raise UserError(f"{fields.where}: thread {thread.thread_id} appears twice in the file, expected once")
        threads[thread.thread_id] = thread
        damages.update(damage(url) for url in urls)
        dropped += [(thread.thread_id, url) for url in urls if video_id(url) is None]
    if not threads:
        raise UserError(f"{path}: no threads in it; expected the authors' file, one JSON object per line")
    kinds = {kind: damages[kind] for kind in ("doubled", "glued", "hidden")}
    return Imported(list(threads.values()), Repairs(**kinds, dropped=tuple(dropped)))


def _thread(fields: Fields, urls: list[str]) -> Thread:
    subreddit = fields.string("source_subreddit")
    genre = GENRE_OF_SUBREDDIT.get(subreddit)
    if genre is None:
        known = ", ".join(GENRE_OF_SUBREDDIT)
        raise UserError(f"{fields.where}: source_subreddit is {subreddit!r}, expected one of {known}")
    return Thread(
        thread_id=fields.string("name"),
        subreddit=subreddit,
        genre=genre,
        query=fields.string("query"),
        post=fields.string("combined_text"),
        submission_entities=tuple(fields.strings("submission_entities")),
        comments=tuple(_comment(comment) for comment in fields.objects("comments")),
        candidates=tuple(fields.strings("final_candidates")),
        ground_truth=tuple(fields.strings("limited_gt")),
        all_entities=tuple(fields.strings("ground_truth")),
        links=tuple(Link(video, start_seconds(url), url) for url in urls if (video := video_id(url)) is not None),
    )


def _comment(fields: Fields) -> Comment:
    entities = fields.object("entities")
    named = Entities(*(tuple(entities.strings(kind)) for kind in ("songs", "artists", "albums")))
    return Comment(fields.string("name"), fields.number("score"), named)
