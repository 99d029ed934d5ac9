"""Questions and table of stage `queries`. A query is a few sentences that need no context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from ..extract.stage import Text
from ..extract.text_matching import quoted
from ..llm import Answers, Outcome, Parameters, Prompt, Question, Request, ask, read_prompt
from ..parquet import read_rows, write_rows
from .query_text import is_answer, read_query, schema

MAX_TOKENS = 512


class Query(NamedTuple):
    """Query of one thread.

    Attributes:
        thread_id: Reddit name, `t3_...`.
        query: The query. None if there is none.
        outcome: Outcome of the question. Failures include "leak", "too short" and "too long".
    """

    thread_id: str
    query: str | None
    outcome: Outcome


def query_prompt() -> Prompt:
    """Read the prompt of this folder."""
    return read_prompt(files(__package__) / "query.toml")


def queries(
    posts: Sequence[Text], answers: Mapping[str, Sequence[str]], prompt: Prompt, source: Answers
) -> list[Query]:
    """Ask for the queries of posts.

    The model sees the post alone, never a reply. The names in replies only serve to refuse a query.

    Args:
        posts: The posts.
        answers: Names in the replies, by thread id.
        prompt: Text of the question.
        source: Cache and backend.

    Returns:
        One query per post, in their order.
    """
    questions = [question(post, answers.get(post.thread_id, ()), prompt) for post in posts]
    results = ask(questions, source)
    return [Query(post.thread_id, answer.value, answer.outcome) for post, answer in zip(posts, results, strict=True)]


def question(post: Text, answers: Sequence[str], prompt: Prompt) -> Question[str]:
    """Return the question about one post; see `queries`."""
    text = prompt.fill(title=quoted(post.title), body=quoted(post.body))
    request = Request(text, prompt.label, schema(), Parameters(MAX_TOKENS))
    read = partial(read_query, post=f"{post.title}\n{post.body}", answers=answers)
    return Question(request, is_answer, read, prompt.again)


def table_schema() -> Any:
    """Return the columns as a `pyarrow.Schema`. Either `query` or `failure` is null."""
    import pyarrow as pa

    text = ("thread_id", "query", "failure", "rung")
    return pa.schema([*((name, pa.string()) for name in text), ("asked", pa.int32())])


def write_queries(path: Path, queries: Sequence[Query]) -> None:
    """Write the table in one step, in the order given."""
    rows = [{"thread_id": query.thread_id, "query": query.query} | query.outcome._asdict() for query in queries]
    write_rows(path, rows, table_schema())


def read_queries(path: Path) -> list[Query]:
    """Read the table.

    Raises:
        UserError: The table is missing or has other columns.
    """
    rows = read_rows(path, table_schema().names, "queries")
    return [Query(row["thread_id"], row["query"], Outcome(*(row[field] for field in Outcome._fields))) for row in rows]
