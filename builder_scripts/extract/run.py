"""Stage `extract` on a work folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..layout import Work, require
from ..llm.ask import count_outcomes, describe_outcomes, has_failures
from ..llm.options import LlmOptions
from ..llm.session import Session
from ..manifest import Counts, hash_files
from ..pipeline.stage import StageOutput, StageResult, run_stage
from .stage import Extraction, Tasks, Text, extract, name_counts
from .tables import read_posts, read_replies, write_extractions

if TYPE_CHECKING:
    from rich.console import Console

STAGE = "extract"
_PACKAGES = ("openai", "transformers", "xgrammar", "pydantic", "json-repair", "rapidfuzz")


def run(work: Work, options: LlmOptions, console: Console) -> StageResult:
    """Make `gold/entities.parquet`, unless it is finished.

    Args:
        work: The work folder, with the output of `threads`.
        options: Model and backend.
        console: Console of the progress bar.

    Returns:
        The manifest, and whether it is new. Questions that failed in an earlier run are asked again.

    Raises:
        UserError: `threads` has not been run, or the model cannot be asked.
        StoppedError: Too many questions failed, or the user stopped the stage.
    """
    tasks = Tasks.read()
    parameters = options.parameters() | {
        "post": {"prompt": tasks.post.prompt.label, "cap": tasks.post.cap},
        "reply": {"prompt": tasks.reply.prompt.label, "cap": tasks.reply.cap},
    }

    def body(_: Path) -> StageOutput:
        with Session(options, work.cache, STAGE, console) as session:
            extractions = extract(_texts(work), tasks, session)
            outcomes = {kind: [entry.outcome for entry in part] for kind, part in _by_kind(extractions).items()}
            failures = session.check(outcomes)
        write_extractions(work.entities, extractions)
        read = describe_outcomes([entry.outcome for entry in extractions])
        return StageOutput((work.entities,), _counts(extractions), [read, session.usage.summary(), *failures])

    return run_stage(
        STAGE, work.gold, hash_files(require((work.threads, work.replies), "threads")), parameters, body,
        packages=_PACKAGES, is_current=lambda last: not has_failures(last), keeps_equal_manifest=True,
    )  # fmt: skip


def estimate(work: Work, options: LlmOptions, console: Console) -> str:
    """Describe in one line the requests that `run` would send now."""
    with Session(options, work.cache, STAGE, console) as session:
        return session.estimate([question.request for question in Tasks.read().questions(_texts(work))])


def _texts(work: Work) -> list[Text]:
    posts = read_posts(work.threads)
    return [*posts, *read_replies(work.replies, posts)]


def _by_kind(extractions: list[Extraction]) -> dict[str, list[Extraction]]:
    return {
        "posts": [item for item in extractions if item.comment_id is None],
        "replies": [item for item in extractions if item.comment_id is not None],
    }


def _counts(extractions: list[Extraction]) -> dict[str, Counts]:
    counts = {}
    for kind, part in _by_kind(extractions).items():
        counts[kind] = count_outcomes([item.outcome for item in part])
        counts[f"names in {kind}"] = name_counts(part)
    return counts
