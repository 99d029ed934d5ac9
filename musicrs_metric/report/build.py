"""The sections of a report, and the JSON that holds all its numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from .. import __version__
from ..base import numbers
from ..catalogue.corpus import DIALOGUE
from ..catalogue.read import has_dialogues
from ..chance import DIALOGUE_RULE
from ..compare import HEADLINE, compare
from ..intervals import BOOTSTRAP, BOOTSTRAP_SAMPLE, BOUNDED, RESAMPLES, SMALLEST_SAMPLE
from ..paper.tables import PUBLISHED_FINGERPRINT, table1
from ..runs.references import References
from .by_genre import FIGURE_METRIC, by_genre_section
from .cases import case_section, check_cases, choose
from .coverage import coverage_section
from .document import Document
from .related import related_section
from .report_data import ReportData
from .rq1 import modality_section
from .rq2 import paradigm_section
from .rq3 import genre_section
from .runs import ReportRun, config_of, read_runs
from .systems import systems_section
from .table1 import table_section
from .threads import RICHEST_FIRST, ClipAudio, Threads, references_of


class Report(NamedTuple):
    """A report, ready to write.

    Attributes:
        document: The text, tables and figures.
        data: The same with unrounded numbers, as plain JSON types.
        sounds: Clips that the page embeds, by key.
    """

    document: Document
    data: dict[str, Any]
    sounds: dict[str, ClipAudio]


def build_report(
    folders: Sequence[Path],
    dataset: str | Path,
    *,
    cases: Sequence[str] = (),
    reported: bool | None = None,
    metric: str = FIGURE_METRIC,
    seed: int = 0,
    resamples: int = RESAMPLES,
    partial: bool = False,
    step: Callable[[str], None] = lambda _: None,
) -> Report:
    """Read runs and build the report on them.

    Args:
        folders: Run folders.
        dataset: The dataset of the runs.
        cases: Thread ids to show; chosen if empty.
        reported: Whether to add the figures of the paper. None: only if the dataset is the published one.
        metric: Measure of the figure by genre.
        seed: Seed of all intervals and tests.
        resamples: Number of resamples of the threads, and of sign flips.
        partial: Whether to accept runs that lack predictions; these count as 0.
        step: Called with the name of each step.

    Returns:
        The report.

    Raises:
        UserError: No such dataset, run, thread or measure; a file that is refused; runs on other data.
    """
    references = references_of(dataset, config_of(folders))
    check_cases(references, cases)
    runs = read_runs(
        folders, references, metrics=(*HEADLINE, metric), seed=seed, resamples=resamples, partial=partial, step=step
    )
    step("comparing")
    threads = Threads(references)
    comparison = None
    if len(runs) > 1:
        comparison = compare([run.system for run in runs], HEADLINE, resamples=resamples, seed=seed)
    with_reported = references.fingerprint == PUBLISHED_FINGERPRINT if reported is None else reported
    data = ReportData(references, threads.rows(), runs, comparison, with_reported, resamples, seed, metric)
    chosen = dict.fromkeys(cases, "as asked for") if cases else choose(data)
    last, sounds = case_section(data, chosen, {thread_id: threads.clips(thread_id) for thread_id in chosen})
    sections = [
        systems_section(data),
        table_section(data),
        coverage_section(data),
        by_genre_section(data),
        modality_section(data),
        paradigm_section(data),
        genre_section(data),
        *([related_section(data)] if data.reported else []),
        *([last] if last.blocks else []),
    ]
    document = Document(f"MusiCRS report: {_display_name(references)}", _lead(data), tuple(sections))
    return Report(document, _data(data, document), sounds)


def _display_name(references: References) -> str:
    return Path(references.name).name or references.name


def _lead(data: ReportData) -> tuple[str, ...]:
    references = data.references
    empty = sum(not items for items in references.ground_truth)
    # The three published configurations hold the same pools. Only others need a name.
    config = "" if references.config in RICHEST_FIRST else f", configuration {references.config}"
    kind = "the published pools" if data.published else "other pools or labels than the published ones"
    return (
        f"{numbers.plural(len(data.runs), 'run')} on {numbers.plural(len(references), 'thread')} of dataset "
        f"{_display_name(references)}{config}: {kind}, fingerprint {references.fingerprint[:12]}. "
        f"Threads with an empty ground truth: {empty}; they count as 0, as in the paper.",
        f"Every score is a mean over threads in per cent, computed again from the predictions. Intervals: 95 %, "
        f"{BOOTSTRAP} from {BOOTSTRAP_SAMPLE} threads, {BOUNDED} for fewer, none below {SMALLEST_SAMPLE}; "
        f"{numbers.thousands(data.resamples)} resamples, seed {data.seed}. Chance is the exact expectation of "
        "a random ranking of the same pools.",
        *_dialogue_lead(references),
    )


def _dialogue_lead(references: References) -> Iterator[str]:
    if has_dialogues(references):
        yield (
            f"The threads are turns of {len(set(references.groups[DIALOGUE]))} dialogues. Every score is a mean over "
            "dialogues of the mean of their turns, and every interval and test draws dialogues. Numbers of threads "
            f"next to a score count dialogues. Rule for {DIALOGUE_RULE}."
        )


def _data(data: ReportData, document: Document) -> dict[str, Any]:
    references = data.references
    return {
        "format": "musicrs report",
        "version": __version__,
        "dataset": {
            "name": _display_name(references),
            "config": references.config,
            "fingerprint": references.fingerprint,
            "threads": len(references),
            "published": data.published,
        },
        "settings": {"seed": data.seed, "resamples": data.resamples},
        "runs": [_run(run) for run in data.runs],
        "comparison": None if data.comparison is None else data.comparison.to_dict(),
        "reported": [asdict(result) for result in table1()] if data.reported else None,
        "document": asdict(document),
    }


def _run(run: ReportRun) -> dict[str, Any]:
    values = {"label": run.label, "card": asdict(run.card), "scores": run.scores.to_dict()}
    values["warnings"] = list(run.warnings)
    return values if run.filled is None else values | {"filled": run.filled.to_dict()}
