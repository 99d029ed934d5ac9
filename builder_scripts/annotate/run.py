"""Stage `annotate` on a work folder: settled labels, by people or from a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from musicrs_metric.errors import UserError, plain, some

from ..layout import Work
from ..lines import read_lines, write_lines
from ..manifest import Counts, StageManifest, hash_files, is_done
from . import places
from .annotation_store import AnnotationStore
from .disagreements import disagreements, read_decisions
from .judgement import Judgement
from .settle import complete, settle
from .shares import PAPER, shares
from .votes import collect_votes, finished
from .worklist import MUSIC, WorkItem, read_worklist

STAGE = "annotate"


@dataclass(frozen=True)
class Settling:
    """How labels come about.

    Attributes:
        decisions: A settled file of disagreements; None where there is none.
        majority: Whether the answer of more than half decides what is not settled.
        labels: A labels file in place of the annotators; None where they are to be heard.
        partial: Whether threads that nobody has finished may be left out.
    """

    decisions: Path | None = None
    majority: bool = False
    labels: Path | None = None
    partial: bool = False


def run(work: Work, settling: Settling) -> tuple[StageManifest, bool]:
    """Make `gold/labels.jsonl`, unless it is there.

    Args:
        work: The work folder, with a work list, and answers unless `settling` gives labels.
        settling: How labels come about.

    Returns:
        The manifest, and whether anything had to be done.

    Raises:
        UserError: The work list is missing, questions are not settled, threads are not judged, or a file is not of its
            form.
    """
    began = perf_counter()
    items = read_worklist(places.worklist(work))
    given = [path for path in (settling.decisions, settling.labels) if path is not None]
    missing = [path for path in given if not path.is_file()]
    if missing:
        raise UserError(f"{missing[0]}: no such file")
    answers = [] if settling.labels else sorted(places.answers(work).glob("*.jsonl"))
    inputs = hash_files((places.worklist(work), *answers, *given))
    parameters: dict[str, Any] = {"majority": settling.majority, "partial": settling.partial}
    if is_done(work.gold, STAGE, parameters, inputs):
        return StageManifest.read(work.gold, STAGE), False
    labels = _from_file(settling.labels, items) if settling.labels else _from_people(work, items, settling)
    _require_all(items, labels, partial=settling.partial)
    write_lines(work.labels, labels)
    manifest = StageManifest(
        stage=STAGE,
        inputs=inputs,
        outputs=hash_files((work.labels,), below=work.gold),
        parameters=parameters,
        counts=count_labels(items, labels),
        wall_s=perf_counter() - began,
        notes=_notes(items, labels),
    )
    manifest.write(work.gold)
    return manifest, True


def count_labels(items: Sequence[WorkItem], labels: Sequence[Judgement]) -> dict[str, Counts]:
    """Count where threads, links and entities went; what people added came in too."""
    verdict = {judgement.thread_id: judgement for judgement in labels}
    threads, links, entities = Counter[str](), Counter[str](), Counter[str]()
    for item in items:
        judgement = verdict.get(item.thread_id)
        if judgement is None or judgement.category != MUSIC:
            threads["not judged" if judgement is None else judgement.category] += 1
            links["of a thread that was left out"] += len(item.links)
            entities["of a thread that was left out"] += len(item.entities)
            continue
        threads[""] += 1
        links.update("invalid" if link.verdict == "invalid" else "" for link in judgement.links)
        entities.update("irrelevant" if one.verdict == "irrelevant" else "" for one in judgement.entities)
    return {name: _counts(total) for name, total in (("threads", threads), ("links", links), ("entities", entities))}


def _counts(total: Counter[str]) -> Counts:
    return Counts(total.total(), total[""], {reason: n for reason, n in sorted(total.items()) if reason})


def _from_people(work: Work, items: Sequence[WorkItem], settling: Settling) -> list[Judgement]:
    votes = collect_votes(items, finished(items, AnnotationStore(places.answers(work))))
    decided = read_decisions(settling.decisions, disagreements(votes)) if settling.decisions else {}
    return settle(items, votes, decided, majority=settling.majority)


def _from_file(path: Path, items: Sequence[WorkItem]) -> list[Judgement]:
    labels = {judgement.thread_id: judgement for judgement in read_lines(path, Judgement)}
    known = {item.thread_id: item for item in items}
    strange = [plain(thread_id) for thread_id in labels if thread_id not in known]
    if strange:
        raise UserError(f"{path}: {some(strange)} not in the work list; give the labels of this corpus")
    return [complete(item, labels[item.thread_id]) for item in items if item.thread_id in labels]


def _require_all(items: Sequence[WorkItem], labels: Iterable[Judgement], *, partial: bool) -> None:
    judged = {judgement.thread_id for judgement in labels}
    left = [plain(item.thread_id) for item in items if item.thread_id not in judged]
    if left and not partial:
        raise UserError(
            f"{len(left)} of {len(items)} threads are not judged: {some(left)}; have them finished, or give --partial "
            "to leave them out"
        )


def _notes(items: Sequence[WorkItem], labels: Sequence[Judgement]) -> list[str]:
    return [
        f"{name}: {share.part:,} of {share.whole:,} ({100 * share.value:.1f} %; the paper {100 * PAPER[name]:.1f} %)"
        for name, share in shares(items, labels).items()
        if share.value is not None
    ]
