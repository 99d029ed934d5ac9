"""Stage `queries`: the request that each post makes, in a few sentences that stand on their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from ..extract.stage import Text
from ..extract.text_matching import quoted
from ..llm import Answers, Outcome, Parameters, Prompt, Question, Request, ask, read_prompt
from ..parquet import read_rows, replacing_parquet
from .query_text import is_answer, read_query, schema

MAX_TOKENS = 512


class Query(NamedTuple):
    """The request of one thread.

    Attributes:
        thread_id: Reddit name, `t3_...`.
        query: The request; None where there is none.
        outcome: How asking for it went; among the failures "leak", "too short", "too long".
    """

    thread_id: str
    query: str | None
    outcome: Outcome


def query_prompt() -> Prompt:
    """The prompt that lies beside this file."""
    return read_prompt(files(__package__) / "query.toml")


def queries(
    posts: Sequence[Text], answers: Mapping[str, Sequence[str]], prompt: Prompt, source: Answers
) -> list[Query]:
    """Word the requests of posts.

    The model is shown the post alone, never a reply; what replies name only serves to refuse a request.

    Args:
        posts: The posts.
        answers: What the replies name, by thread id.
        prompt: What to ask.
        source: The store, and who is asked what it lacks.

    Returns:
        One query per post, in their order.
    """
    questions = [question(post, answers.get(post.thread_id, ()), prompt) for post in posts]
    found = ask(questions, source)
    return [Query(post.thread_id, answer.value, answer.outcome) for post, answer in zip(posts, found, strict=True)]


def question(post: Text, answers: Sequence[str], prompt: Prompt) -> Question[str]:
    """Ask for the request of one post; see `queries`."""
    text = prompt.fill(title=quoted(post.title), body=quoted(post.body))
    request = Request(text, prompt.label, schema(), Parameters(MAX_TOKENS))
    read = partial(read_query, post=f"{post.title}\n{post.body}", answers=answers)
    return Question(request, is_answer, read, prompt.again)


def table_schema() -> Any:
    """The columns, as a `pyarrow.Schema`; `query` is null where there is none, and `failure` where there is one."""
    import pyarrow as pa

    text = ("thread_id", "query", "failure", "rung")
    return pa.schema([*((name, pa.string()) for name in text), ("asked", pa.int32())])


def write_queries(path: Path, queries: Sequence[Query]) -> None:
    """Write the table in one step, in the order given."""
    import pyarrow as pa

    rows = [{"thread_id": found.thread_id, "query": found.query} | found.outcome._asdict() for found in queries]
    with replacing_parquet(path, table_schema()) as writer:
        writer.write_table(pa.Table.from_pylist(rows, schema=table_schema()))


def read_queries(path: Path) -> list[Query]:
    """Read the table.

    Raises:
        UserError: It is not there, or is no such table.
    """
    rows = read_rows(path, table_schema().names, "queries")
    return [Query(row["thread_id"], row["query"], Outcome(*(row[field] for field in Outcome._fields))) for row in rows]
