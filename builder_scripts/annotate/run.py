"""Stage `annotate` on a work folder: labels from annotators or from a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from musicrs_metric.errors import UserError, plain, some

from ..layout import Work
from ..lines import read_lines, write_lines
from ..manifest import Counts, hash_files
from ..pipeline.stage import StageOutput, StageResult, run_stage
from .annotation_store import AnnotationStore
from .disagreements import disagreements, read_decisions
from .judgement import Judgement
from .options import AnnotateOptions
from .settle import complete, settle
from .shares import PAPER, shares
from .votes import collect_votes, finished
from .worklist import MUSIC, WorkItem, read_worklist

STAGE = "annotate"


def run(work: Work, options: AnnotateOptions) -> StageResult:
    """Make `gold/labels.jsonl`, unless it is finished.

    Args:
        work: The work folder, with a work list, and with answers unless `options` names a labels file.
        options: Source of the labels.

    Returns:
        The manifest, and whether it is new.

    Raises:
        UserError: The work list is missing, questions are not settled, threads are not judged, or a file is not of its
            form.
    """
    items = read_worklist(work.worklist)
    files = [path for path in (options.decisions, options.labels) if path is not None]
    missing = [path for path in files if not path.is_file()]
    if missing:
        raise UserError(f"{missing[0]}: no such file")
    answers = [] if options.labels else sorted(work.annotations.glob("*.jsonl"))

    def body(_: Path) -> StageOutput:
        labels = _from_file(options.labels, items) if options.labels else _from_annotators(work, items, options)
        _require_all(items, labels, partial=options.partial)
        write_lines(work.labels, labels)
        return StageOutput((work.labels,), count_labels(items, labels), _notes(items, labels))

    parameters = {"majority": options.majority, "partial": options.partial}
    return run_stage(STAGE, work.gold, hash_files((work.worklist, *answers, *files)), parameters, body)


def count_labels(items: Sequence[WorkItem], labels: Sequence[Judgement]) -> dict[str, Counts]:
    """Count threads, links and entities, with those that annotators added."""
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
    totals = {"threads": threads, "links": links, "entities": entities}
    return {name: Counts.by_reason(dict(sorted(total.items()))) for name, total in totals.items()}


def _from_annotators(work: Work, items: Sequence[WorkItem], options: AnnotateOptions) -> list[Judgement]:
    votes = collect_votes(items, finished(items, AnnotationStore(work.annotations)))
    decided = read_decisions(options.decisions, disagreements(votes)) if options.decisions else {}
    return settle(items, votes, decided, majority=options.majority)


def _from_file(path: Path, items: Sequence[WorkItem]) -> list[Judgement]:
    labels = {judgement.thread_id: judgement for judgement in read_lines(path, Judgement)}
    known = {item.thread_id: item for item in items}
    unknown = [plain(thread_id) for thread_id in labels if thread_id not in known]
    if unknown:
        raise UserError(f"{path}: {some(unknown)} not in the work list; give the labels of this corpus")
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
