"""What the annotators work on: one thread a line, with everything that is needed to judge it.

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
    """Music that the thread names.

    Attributes:
        kind: What it is.
        name: As the thread writes it.
        named_in: Ids of the texts that name it: of replies, or of the thread itself where the asker does.
    """

    kind: Kind
    name: str
    named_in: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.kind}: {self.name}"


@dataclass(frozen=True, slots=True)
class Reply:
    """A top-level reply.

    Attributes:
        id: Reddit name, `t1_...`.
        score: Upvotes minus downvotes when the reply was captured; None where the dump has none.
        text: What it says.
    """

    id: str
    score: int | None
    text: str


@dataclass(frozen=True, slots=True)
class WorkItem:
    """One thread to judge.

    Attributes:
        thread_id: Reddit name, `t3_...`.
        subreddit: Where it was asked.
        title: Title of the post.
        text: Its body; may be empty.
        query: The request that was derived from it.
        links: Its YouTube links, each video once.
        entities: The music that it and its replies name, each kind and name once.
        replies: Top-level replies.
        category: What the making took it for so far; threads of music subreddits are `music` until somebody says
            otherwise.
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
        path: JSON lines as the module has them.

    Returns:
        The threads, in file order.

    Raises:
        UserError: The file is not there or empty, a line is not of that form, or names a thread, a video or an entity
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
        raise UserError(f"{where}: the {what} {plain(twice)} stands there twice; expected each {what} once")
