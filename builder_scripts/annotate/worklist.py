"""Work list of annotators: one thread per line, with everything that a judgement needs.

```json
{"thread_id": "t3_1abc", "subreddit": "jazz", "title": "...", "text": "...", "query": "...", "category": "music",
 "links": [{"video_id": "jNQXAC9IVRw", "start_s": 0.0, "url": "https://youtu.be/jNQXAC9IVRw", "status": "ok"}],
 "entities": [{"kind": "song", "name": "So What", "named_in": ["t1_2def"]}],
 "replies": [{"id": "t1_2def", "score": 12, "text": "Try So What"}]}
```
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from musicrs_dataset.audio.fetch.cache import is_video_id
from musicrs_dataset.records import Link
from musicrs_metric.errors import UserError, plain

from ..extract.mentions import Kind
from ..lines import read_lines

Category = Literal["music", "pop culture", "other"]
CATEGORIES: tuple[Category, ...] = ("music", "pop culture", "other")
MUSIC: Category = "music"


@dataclass(frozen=True, slots=True)
class Entity:
    """Entity that the thread mentions.

    Attributes:
        kind: Kind of the entity.
        name: Name as in the thread.
        named_in: Ids of the texts that mention it: replies, or the thread for the post.
    """

    kind: Kind
    name: str
    named_in: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.kind}: {self.name}"


@dataclass(frozen=True, slots=True)
class Reply:
    """First-level reply.

    Attributes:
        id: Reddit name, `t1_...`.
        score: Upvotes minus downvotes at the time of capture. None if unknown.
        text: Text of the reply.
    """

    id: str
    score: int | None
    text: str


@dataclass(frozen=True, slots=True)
class WorkItem:
    """Thread to judge.

    Attributes:
        thread_id: Reddit name, `t3_...`.
        subreddit: Name of the subreddit.
        title: Title of the post.
        text: Text of the post. It may be empty.
        query: The derived query.
        links: YouTube links, each video once.
        entities: Entities of the post and its replies, each kind and name once.
        replies: First-level replies.
        category: Category before annotation. Threads of music subreddits are `music`.
    """

    thread_id: str
    subreddit: str
    title: str
    text: str
    query: str
    links: tuple[Link, ...]
    entities: tuple[Entity, ...]
    replies: tuple[Reply, ...]
    category: Category = MUSIC


def read_worklist(path: Path) -> list[WorkItem]:
    """Read a work list.

    Args:
        path: JSON lines in the form of this module.

    Returns:
        The threads, in file order.

    Raises:
        UserError: The file is missing or empty, a line has another form, or a thread, a video or an entity appears
            twice.
    """
    if not path.is_file():
        raise UserError(f"{path}: no such file; run `python -m builder_scripts annotate prepare` first")
    items = read_lines(path, WorkItem)
    if not items:
        raise UserError(f"{path}: no threads in it")
    _once(path, "thread", [item.thread_id for item in items])
    for item in items:
        where = f"{path}, thread {plain(item.thread_id)}"
        _once(where, "video", [link.video_id for link in item.links])
        _once(where, "entity", list(map(str, item.entities)))
        for link in item.links:
            if not is_video_id(link.video_id):
                raise UserError(f"{where}: {plain(link.video_id)} is no id of a video; expected 11 characters")
    return items


def _once(where: Path | str, what: str, keys: Sequence[str]) -> None:
    if len(set(keys)) < len(keys):
        twice = next(key for key in keys if keys.count(key) > 1)
        raise UserError(f"{where}: the {what} {plain(twice)} appears twice; expected each {what} once")
