"""Threads of stage `refine`, assembled from the tables of the earlier stages."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from musicrs_dataset.records import Entities, Link
from musicrs_metric.errors import UserError

from ..extract.tables import read_extractions
from ..extract.text_matching import plain
from ..layout import Work
from ..parquet import read_rows
from ..queries.run import Query, read_queries
from .ranking import Reply
from .stage import Conversation

_THREAD = ("thread_id", "subreddit", "created_utc", "score", "title", "text", "links")
_REPLY = ("thread_id", "comment_id", "score", "created_utc", "is_submitter")


def read_conversations(work: Work) -> list[Conversation]:
    """Read the threads of a work folder, by thread id.

    Raises:
        UserError: A table is missing, or lacks a thread or a reply of another table.
    """
    names = {
        (extraction.thread_id, extraction.comment_id): Entities(*extraction.mentions[:3])
        for extraction in read_extractions(work.entities)
    }
    queries = {query.thread_id: query for query in read_queries(work.queries)}
    replies: dict[str, list[Reply]] = defaultdict(list)
    for row in read_rows(work.replies, _REPLY, "threads"):
        entities = _known(names, (row["thread_id"], row["comment_id"]), "extract")
        replies[row["thread_id"]].append(
            Reply(row["comment_id"], row["score"], row["created_utc"] or 0, bool(row["is_submitter"]), entities)
        )
    threads = sorted(read_rows(work.threads, _THREAD, "threads"), key=lambda row: str(row["thread_id"]))
    return [
        _conversation(
            row,
            _known(queries, row["thread_id"], "queries"),
            _known(names, (row["thread_id"], None), "extract"),
            tuple(replies[row["thread_id"]]),
        )
        for row in threads
    ]


def _conversation(row: dict[str, Any], query: Query, own: Entities, replies: tuple[Reply, ...]) -> Conversation:
    return Conversation(
        thread_id=row["thread_id"],
        subreddit=row["subreddit"],
        created_utc=row["created_utc"] or 0,
        score=row["score"],
        post=plain(f"{row['title'] or ''}\n\n{row['text'] or ''}"),
        query=query.query,
        failure=query.outcome.failure,
        named=own,
        replies=replies,
        links=tuple(Link(link["video_id"], link["start_s"], link["url"]) for link in row["links"] or ()),
    )


def _known(table: dict[Any, Any], key: Any, stage: str) -> Any:
    if key not in table:
        which = " ".join(str(part) for part in (key if isinstance(key, tuple) else (key,)) if part)
        raise UserError(f"{which} is not in the table of stage {stage}, which is older than silver/; run {stage} again")
    return table[key]
