"""Table of stage `extract`, one row per post and reply, and the texts that the stage reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from musicrs_metric.errors import UserError

from ..llm import Outcome
from ..parquet import read_rows, write_rows
from .mentions import Mentions
from .stage import Extraction, Text


def schema() -> Any:
    """Return the columns as a `pyarrow.Schema`. `comment_id` is null for a post, `failure` for a good answer."""
    import pyarrow as pa

    names, number = pa.list_(pa.string()), pa.int32()
    columns = {"thread_id": pa.string(), "comment_id": pa.string()}
    columns |= dict.fromkeys(("songs", "artists", "albums", "unfounded"), names)
    columns |= dict.fromkeys(("n_invalid", "n_repeated", "n_over"), number)
    columns |= {"failure": pa.string(), "rung": pa.string(), "asked": number}
    return pa.schema(list(columns.items()))


def write_extractions(path: Path, extractions: Sequence[Extraction]) -> None:
    """Write the table in one step, in the order given."""
    rows = [
        {"thread_id": extraction.thread_id, "comment_id": extraction.comment_id}
        | extraction.mentions._asdict()
        | extraction.outcome._asdict()
        for extraction in extractions
    ]
    write_rows(path, rows, schema())


def read_extractions(path: Path) -> Iterator[Extraction]:
    """Read the table.

    Raises:
        UserError: The table is missing or has other columns.
    """
    for row in read_rows(path, schema().names, "extract"):
        columns: dict[str, Any] = {name: row[name] for name in Mentions._fields}
        names = {name: tuple(value) for name, value in columns.items() if isinstance(value, list)}
        mentions = Mentions(**columns | names)
        outcome = Outcome(row["failure"], row["rung"], row["asked"])
        yield Extraction(row["thread_id"], row["comment_id"], mentions, outcome)


def read_posts(path: Path) -> list[Text]:
    """Read the posts of the silver layer, ordered by thread id.

    Raises:
        UserError: The table is missing or has other columns.
    """
    rows = read_rows(path, ("thread_id", "title", "text"), "threads")
    return sorted(Text(row["thread_id"], None, row["title"] or "", row["text"] or "") for row in rows)


def read_replies(path: Path, posts: Sequence[Text]) -> list[Text]:
    """Read the replies of the silver layer, ordered by thread id and comment id.

    Args:
        path: The table.
        posts: All posts.

    Raises:
        UserError: The table is missing, has other columns, or holds replies to other posts.
    """
    titles = {post.thread_id: post.title for post in posts}
    replies = []
    for row in read_rows(path, ("comment_id", "thread_id", "body"), "threads"):
        title = titles.get(row["thread_id"])
        if title is None:
            raise UserError(
                f"{path}: {row['comment_id']} answers {row['thread_id']}, which is no thread; run threads again"
            )
        replies.append(Text(row["thread_id"], row["comment_id"], title, row["body"] or ""))
    return sorted(replies)
