"""Stage `queries` on a work folder."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ..extract.stage import Extraction
from ..extract.tables import read_extractions, read_posts
from ..layout import Work, require
from ..llm.ask import count_outcomes, describe_outcomes, has_failures
from ..llm.options import LlmOptions
from ..llm.session import Session
from ..manifest import hash_files
from ..pipeline.stage import StageOutput, StageResult, run_stage
from .stage import queries, query_prompt, question, write_queries

if TYPE_CHECKING:
    from rich.console import Console

STAGE = "queries"
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
