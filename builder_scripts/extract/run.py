"""Stage `extract` on a work folder."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

from ..layout import Work, require
from ..llm.outcomes import count_outcomes, describe_outcomes, has_failures, record
from ..llm.session import Session, Settings
from ..manifest import Counts, StageManifest, hash_files, is_done, versions_of
from .stage import Extraction, Tasks, Text, extract, name_counts
from .tables import read_posts, read_replies, write_extractions

if TYPE_CHECKING:
    from rich.console import Console

STAGE = "extract"
_PACKAGES = ("openai", "transformers", "xgrammar", "pydantic", "json-repair", "rapidfuzz")


def run(work: Work, settings: Settings, console: Console) -> tuple[StageManifest, bool]:
    """Make `gold/entities.parquet`, unless it is there.

    Args:
        work: The work folder, with what `threads` made.
        settings: Whom to ask and how.
        console: For progress.

    Returns:
        The manifest, and whether anything is new. Failures of an earlier run are asked again.

    Raises:
        UserError: `threads` has not been run, or the model cannot be asked.
        StoppedError: Too many questions failed, or the user stopped it.
    """
    began = perf_counter()
    tasks = Tasks.read()
    inputs = hash_files(require((work.threads, work.replies), "threads"))
    parameters = settings.to_dict() | {
        "post": {"prompt": tasks.post.prompt.label, "cap": tasks.post.cap},
        "reply": {"prompt": tasks.reply.prompt.label, "cap": tasks.reply.cap},
    }
    if is_done(work.gold, STAGE, parameters, inputs):
        last = StageManifest.read(work.gold, STAGE)
        if not has_failures(last):
            return last, False
    with Session(settings, work.cache, STAGE, console) as session:
        found = extract(_texts(work), tasks, session)
        notes = session.check({kind: [item.outcome for item in part] for kind, part in _by_kind(found).items()})
    write_extractions(work.entities, found)
    manifest = StageManifest(
        stage=STAGE,
        inputs=inputs,
        outputs=hash_files((work.entities,), below=work.gold),
        parameters=parameters,
        counts=_counts(found),
        wall_s=perf_counter() - began,
        notes=[describe_outcomes([item.outcome for item in found]), session.usage.summary(), *notes],
        versions=versions_of(_PACKAGES),
    )
    return record(work.gold, manifest)


def estimate(work: Work, settings: Settings, console: Console) -> str:
    """Say in a line what `run` would ask for now."""
    with Session(settings, work.cache, STAGE, console) as session:
        return session.estimate([question.request for question in Tasks.read().questions(_texts(work))])


def _texts(work: Work) -> list[Text]:
    posts = read_posts(work.threads)
    return [*posts, *read_replies(work.replies, posts)]


def _by_kind(found: list[Extraction]) -> dict[str, list[Extraction]]:
    return {
        "posts": [item for item in found if item.comment_id is None],
        "replies": [item for item in found if item.comment_id is not None],
    }


def _counts(found: list[Extraction]) -> dict[str, Counts]:
    counts = {}
    for kind, part in _by_kind(found).items():
        counts[kind] = count_outcomes([item.outcome for item in part])
        counts[f"names in {kind}"] = name_counts(part)
    return counts
