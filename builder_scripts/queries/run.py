"""Stage `queries` on a work folder."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from time import perf_counter
from typing import TYPE_CHECKING

from ..extract.stage import Extraction
from ..extract.tables import read_extractions, read_posts
from ..layout import Work, require
from ..llm.outcomes import count_outcomes, describe_outcomes, has_failures, record
from ..llm.session import Session, Settings
from ..manifest import StageManifest, hash_files, is_done, versions_of
from .stage import queries, query_prompt, question
from .tables import write_queries

if TYPE_CHECKING:
    from rich.console import Console

STAGE = "queries"
_PACKAGES = ("openai", "transformers", "xgrammar", "json-repair")


def run(work: Work, settings: Settings, console: Console) -> tuple[StageManifest, bool]:
    """Make `gold/queries.parquet`, unless it is there.

    Args:
        work: The work folder, with what `extract` made.
        settings: Whom to ask and how.
        console: For progress.

    Returns:
        The manifest, and whether anything is new. Failures of an earlier run are asked again.

    Raises:
        UserError: `extract` has not been run, or the model cannot be asked.
        StoppedError: Too many questions failed, or the user stopped it.
    """
    began = perf_counter()
    prompt = query_prompt()
    inputs = hash_files((*require((work.threads,), "threads"), *require((work.entities,), "extract")))
    parameters = settings.to_dict() | {"prompt": prompt.label}
    if is_done(work.gold, STAGE, parameters, inputs):
        last = StageManifest.read(work.gold, STAGE)
        if not has_failures(last):
            return last, False
    answers = _named_in_replies(read_extractions(work.entities))
    with Session(settings, work.cache, STAGE, console) as session:
        found = queries(read_posts(work.threads), answers, prompt, session)
        notes = session.check({"posts": [query.outcome for query in found]})
    write_queries(work.queries, found)
    outcomes = [query.outcome for query in found]
    manifest = StageManifest(
        stage=STAGE,
        inputs=inputs,
        outputs=hash_files((work.queries,), below=work.gold),
        parameters=parameters,
        counts={"threads": count_outcomes(outcomes)},
        wall_s=perf_counter() - began,
        notes=[describe_outcomes(outcomes), session.usage.summary(), *notes],
        versions=versions_of(_PACKAGES),
    )
    return record(work.gold, manifest)


def estimate(work: Work, settings: Settings, console: Console) -> str:
    """Say in a line what `run` would ask for now."""
    prompt = query_prompt()
    with Session(settings, work.cache, STAGE, console) as session:
        return session.estimate([question(post, (), prompt).request for post in read_posts(work.threads)])


def _named_in_replies(extractions: Iterable[Extraction]) -> dict[str, list[str]]:
    named: dict[str, list[str]] = defaultdict(list)
    for found in extractions:
        if found.comment_id is not None:
            named[found.thread_id] += [*found.mentions.songs, *found.mentions.artists, *found.mentions.albums]
    return named
