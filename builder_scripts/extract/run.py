"""Stage `extract` on a work folder."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

from ..layout import Work, require
from ..llm.outcomes import count_outcomes, describe_outcomes
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
        The manifest, and whether anything had to be done.

    Raises:
        UserError: `threads` has not been run, or the model cannot be asked, or did not answer everything.
    """
    began = perf_counter()
    tasks = Tasks.read()
    inputs = hash_files(require((work.threads, work.replies), "threads"))
    parameters = settings.to_dict() | {
        "post": {"prompt": tasks.post.prompt.label, "cap": tasks.post.cap},
        "reply": {"prompt": tasks.reply.prompt.label, "cap": tasks.reply.cap},
    }
    if is_done(work.gold, STAGE, parameters, inputs):
        return StageManifest.read(work.gold, STAGE), False
    with Session(settings, work.cache, STAGE, console) as session:
        found = extract(_texts(work), tasks, session.generate)
        session.check()
    write_extractions(work.entities, found)
    manifest = StageManifest(
        stage=STAGE,
        inputs=inputs,
        outputs=hash_files((work.entities,), below=work.gold),
        parameters=parameters,
        counts=_counts(found),
        wall_s=perf_counter() - began,
        notes=[describe_outcomes([item.outcome for item in found]), session.meter.summary()],
        versions=versions_of(_PACKAGES),
    )
    manifest.write(work.gold)
    return manifest, True


def estimate(work: Work, settings: Settings, console: Console) -> str:
    """Say in a line what `run` would ask for now."""
    with Session(settings, work.cache, STAGE, console) as session:
        return session.estimate([question.request for question in Tasks.read().questions(_texts(work))])


def _texts(work: Work) -> list[Text]:
    posts = read_posts(work.threads)
    return [*posts, *read_replies(work.replies, posts)]


def _counts(found: list[Extraction]) -> dict[str, Counts]:
    counts = {}
    for kind, of_posts in (("posts", True), ("replies", False)):
        part = [item for item in found if (item.comment_id is None) == of_posts]
        counts[kind] = count_outcomes([item.outcome for item in part])
        counts[f"names in {kind}"] = name_counts(part)
    return counts
