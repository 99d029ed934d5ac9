"""Stage `queries`: the questions, the table and the work folder. A query is a few sentences that need no context."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..extract.stage import Extraction, Text
from ..extract.tables import read_extractions, read_posts
from ..extract.text_matching import quoted
from ..layout import Work, require
from ..llm import Answers, Outcome, Parameters, Prompt, Question, Request, ask, read_prompt
from ..llm.ask import count_outcomes, describe_outcomes, has_failures
from ..llm.options import LlmOptions
from ..llm.session import Session
from ..manifest import hash_files
from ..parquet import read_rows, write_rows
from ..pipeline.stage import StageOutput, StageResult, run_stage
from .query_text import is_answer, read_query, schema

if TYPE_CHECKING:
    from rich.console import Console

STAGE = "queries"
MAX_TOKENS = 512
_PACKAGES = ("openai", "transformers", "xgrammar", "json-repair")


def run(work: Work, options: LlmOptions, console: Console) -> StageResult:
    """Make `gold/queries.parquet`, unless it is finished.

    Args:
        work: The work folder, with the output of `extract`.
        options: Model and backend.
        console: Console of the progress bar.

    Returns:
        The manifest, and whether it is new. Questions that failed in an earlier run are asked again.

    Raises:
        UserError: `extract` has not been run, or the model cannot be asked.
        StoppedError: Too many questions failed, or the user stopped the stage.
    """
    prompt = query_prompt()
    inputs = hash_files((*require((work.threads,), "threads"), *require((work.entities,), "extract")))

    def body(_: Path) -> StageOutput:
        answers = _named_in_replies(read_extractions(work.entities))
        with Session(options, work.cache, STAGE, console) as session:
            written = queries(read_posts(work.threads), answers, prompt, session)
            outcomes = [query.outcome for query in written]
            failures = session.check({"posts": outcomes})
        write_queries(work.queries, written)
        notes = [describe_outcomes(outcomes), session.usage.summary(), *failures]
        return StageOutput((work.queries,), {"threads": count_outcomes(outcomes)}, notes)

    return run_stage(
        STAGE, work.gold, inputs, options.parameters() | {"prompt": prompt.label}, body,
        packages=_PACKAGES, is_current=lambda last: not has_failures(last), keeps_equal_manifest=True,
    )  # fmt: skip


def estimate(work: Work, options: LlmOptions, console: Console) -> str:
    """Describe in one line the requests that `run` would send now."""
    prompt = query_prompt()
    with Session(options, work.cache, STAGE, console) as session:
        return session.estimate([question(post, (), prompt).request for post in read_posts(work.threads)])


def _named_in_replies(extractions: Iterable[Extraction]) -> dict[str, list[str]]:
    named: dict[str, list[str]] = defaultdict(list)
    for extraction in extractions:
        if extraction.comment_id is not None:
            songs, artists, albums, *_ = extraction.mentions
            named[extraction.thread_id] += [*songs, *artists, *albums]
    return named


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
