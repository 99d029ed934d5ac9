"""`gold/corpus.jsonl`: one thread per line, with everything that a record of the dataset needs except its pool.

```json
{"thread_id": "t3_1abc", "subreddit": "jazz", "genre": "Jazz", "created_utc": 1560000000, "score": 12,
 "query": "...", "post": "title, blank line, text",
 "submission_entities": {"songs": ["Naima"], "artists": ["John Coltrane"], "albums": []},
 "comments": [{"id": "t1_2def", "score": 7, "entities": {"songs": ["So What"], "artists": [], "albums": []}}],
 "answers": [{"kind": "song", "name": "So What", "score": 7, "comment_id": "t1_2def"}],
 "ground_truth": ["So What"], "all_entities": ["So What"],
 "links": [{"video_id": "jNQXAC9IVRw", "start_s": 0.0, "url": "https://youtu.be/jNQXAC9IVRw"}]}
```

All names are in their merged spelling. `answers` are ordered, best first, and `ground_truth` holds the first ones. If
annotators remove answers, the next ones move up.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from musicrs_dataset.jsonl import Fields, read_objects
from musicrs_dataset.records import Comment, Entities, Link, Thread
from musicrs_metric.base.files import to_json, write_text
from musicrs_metric.errors import UserError, show

from ..extract.mentions import KINDS, Kind


class Answer(NamedTuple):
    """A title that the community recommends.

    Attributes:
        kind: Kind of the entity.
        name: The title.
        score: Upvotes minus downvotes of the most upvoted reply that names it. None if unknown.
        comment_id: Id of that reply.
    """

    kind: Kind
    name: str
    score: float | None
    comment_id: str


@dataclass(frozen=True, slots=True)
class CorpusThread:
    """A thread without its pool.

    Attributes:
        thread_id: Reddit name, `t3_...`.
        subreddit: Name of the subreddit.
        genre: One of `musicrs_metric.base.genres.GENRES`, or a new one.
        created_utc: Time in seconds since 1970.
        score: Upvotes minus downvotes of the post. None if unknown.
        query: The query.
        post: Title and text.
        submission_entities: Entities of the post.
        comments: First-level replies, most upvoted first.
        answers: Answers, most upvoted first.
        ground_truth: The names of the first answers.
        all_entities: Every name of the wanted kinds in the replies, answers or not, most upvoted first.
        links: The YouTube links of the post.
    """

    thread_id: str
    subreddit: str
    genre: str
    created_utc: int
    score: float | None
    query: str
    post: str
    submission_entities: Entities
    comments: tuple[Comment, ...]
    answers: tuple[Answer, ...]
    ground_truth: tuple[str, ...]
    all_entities: tuple[str, ...]
    links: tuple[Link, ...]

    def to_thread(self, candidates: Iterable[str] = ()) -> Thread:
        """Return the record of the dataset.

        Args:
            candidates: The pool. Empty before pools are drawn.

        Returns:
            The thread. Its `submission_entities` are the asker's names of the kinds that the answers have, as in the
            published file.
        """
        columns = {"song": "songs", "artist": "artists", "album": "albums"}
        kinds = [kind for kind in KINDS if kind in {answer.kind for answer in self.answers}]
        own = [name for kind in kinds for name in getattr(self.submission_entities, columns[kind])]
        return Thread(
            thread_id=self.thread_id,
            subreddit=self.subreddit,
            genre=self.genre,
            query=self.query,
            post=self.post,
            submission_entities=tuple(dict.fromkeys(own)),
            comments=self.comments,
            candidates=tuple(candidates),
            ground_truth=self.ground_truth,
            all_entities=self.all_entities,
            links=self.links,
        )


def write_corpus(path: Path, threads: Iterable[CorpusThread]) -> None:
    """Write the file in one step."""
    write_text(path, (f"{to_json(_to_dict(thread))}\n" for thread in threads))


def read_corpus(path: Path) -> list[CorpusThread]:
    """Read the file.

    Raises:
        UserError: The file is missing, or a line has another form.
    """
    if not path.is_file():
        raise UserError(f"{path}: no such file; run `python -m builder_scripts refine` first")
    return [_from_fields(fields) for fields in read_objects(path)]


def _to_dict(thread: CorpusThread) -> dict[str, object]:
    value = asdict(thread) | {"answers": [answer._asdict() for answer in thread.answers]}
    for link in value["links"]:
        del link["status"]  # decided by stage `audio`
    return value


def _from_fields(fields: Fields) -> CorpusThread:
    return CorpusThread(
        thread_id=fields.string("thread_id"),
        subreddit=fields.string("subreddit"),
        genre=fields.string("genre"),
        created_utc=int(fields.number("created_utc") or 0),
        score=fields.number("score"),
        query=fields.string("query"),
        post=fields.string("post"),
        submission_entities=_entities(fields.object("submission_entities")),
        comments=tuple(
            Comment(comment.string("id"), comment.number("score"), _entities(comment.object("entities")))
            for comment in fields.objects("comments")
        ),
        answers=tuple(
            Answer(_kind(answer), answer.string("name"), answer.number("score"), answer.string("comment_id"))
            for answer in fields.objects("answers")
        ),
        ground_truth=tuple(fields.strings("ground_truth")),
        all_entities=tuple(fields.strings("all_entities")),
        links=tuple(
            Link(link.string("video_id"), link.number("start_s") or 0.0, link.string("url"))
            for link in fields.objects("links")
        ),
    )


def _entities(fields: Fields) -> Entities:
    return Entities(*(tuple(fields.strings(kind)) for kind in ("songs", "artists", "albums")))


def _kind(fields: Fields) -> Kind:
    kind = fields.string("kind")
    if kind not in KINDS:
        raise UserError(f"{fields.where}: kind is {show(kind)}, expected one of {', '.join(KINDS)}")
    return kind
