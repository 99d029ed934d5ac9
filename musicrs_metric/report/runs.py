"""Runs of a report: reading, scoring, and unique names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..base import numbers
from ..catalogue.compare import group_labels
from ..compare import HEADLINE, System
from ..compare.load import load_runs, unused
from ..compare.shipped import is_shipped
from ..errors import UserError, plain
from ..paper.tables import OVERALL, Result
from ..runs.filled_scores import FilledScores
from ..runs.predictions import PREDICTIONS, Prediction, read_predictions
from ..runs.read import check_finished
from ..runs.references import References
from ..runs.run_card import RUN_CARD, RunCard, read_run_card
from ..scoring import Scores, ThreadTable, summarise

# The order of the paper's Table 1.
PARADIGMS = ("generative", "retrieval", "traditional")
GROUPINGS = ("genre", "subreddit", "macro")
MODALITIES = ("audio_only", "query_only", "audio_query")


@dataclass(frozen=True)
class ReportRun:
    """A run with its card, values and scores.

    Attributes:
        folder: Its folder.
        card: Its run card.
        system: Its values per thread, under a name that is unique in the report.
        scores: Their means by genre, subreddit and macro-genre.
        threads: Values per thread. Those of `system` are per dialogue if the threads are turns.
        warnings: Warnings about its prediction file.
    """

    folder: Path
    card: RunCard
    system: System
    scores: Scores
    threads: ThreadTable
    warnings: tuple[str, ...] = ()

    @property
    def filled(self) -> FilledScores | None:
        """Return its filled part; None if its predictions do not state it."""
        return self.system.filled

    @property
    def label(self) -> str:
        """Return its unique name."""
        return self.system.name

    def predictions(self) -> dict[str, Prediction]:
        """Read the predictions again, by thread id."""
        return {each.thread_id: each for each in read_predictions(self.folder / PREDICTIONS).predictions}


def read_runs(
    folders: Sequence[Path],
    references: References,
    *,
    metrics: Sequence[str] = HEADLINE,
    seed: int,
    resamples: int,
    partial: bool = False,
    step: Callable[[str], None] = lambda _: None,
) -> list[ReportRun]:
    """Read and score run folders.

    Args:
        folders: Folders with `run.json` and `predictions.jsonl`.
        references: The dataset of the runs.
        metrics: Measures of the report.
        seed: Seed of the intervals.
        resamples: Number of resamples of the intervals.
        partial: Whether to accept runs that lack predictions; these count as 0.
        step: Called with the name of each step.

    Returns:
        The runs as Table 1 orders them: by paradigm, then in the order given, a system's modalities together.

    Raises:
        UserError: A file that is refused, a run on other data, or one that lacks predictions.
    """
    loaded = []
    for folder in folders:
        step(f"reading {folder.name}")
        run = load_runs([folder], references, metrics)[0]
        assert run.card is not None  # noqa: S101 - `config_of` has seen it
        n_missing = int(run.threads.hits.missing.sum())
        if n_missing and not partial:
            raise UserError(
                f"{folder}: no prediction for {n_missing} of {len(references)} threads; finish the run, exclude "
                "it, or give --partial to count them as 0"
            )
        loaded.append((folder, run.card, run.system, run.threads, run.warnings))
    names = _labels([(card, folder) for folder, card, *_ in loaded])
    groups = group_labels(references, [name for name in GROUPINGS if name in references.groups])
    runs = [
        ReportRun(
            folder,
            card,
            replace(system, name=name),
            summarise(system.table, groups=groups, seed=seed, resamples=resamples),
            threads,
            warnings,
        )
        for (folder, card, system, threads, warnings), name in zip(loaded, names, strict=True)
    ]
    first_seen = {run.card.name: i for i, run in reversed(list(enumerate(runs)))}
    return sorted(
        runs,
        key=lambda run: (
            PARADIGMS.index(run.card.paradigm), first_seen[run.card.name], MODALITIES.index(run.card.modality)
        ),
    )  # fmt: skip


def config_of(folders: Sequence[Path]) -> str:
    """Return the configuration of some run folders: that of the first. The others must have the same pools.

    Args:
        folders: Run folders.

    Raises:
        UserError: One of them is no folder with a run card, or was made on other data than the first.
    """
    cards = []
    for folder in folders:
        if not folder.is_dir():
            what = "is a file" if folder.exists() else "no such folder"
            run = (
                f"; run it: python -m baselines run --model {folder} --out runs/{folder}" if is_shipped(folder) else ""
            )
            raise UserError(f"{folder}: {what}; expected a run folder with {RUN_CARD} and {PREDICTIONS}{run}")
        check_finished(folder)
        cards.append(read_run_card(folder))
        if cards[-1].fingerprint != cards[0].fingerprint:
            raise UserError(
                f"{folder}: was made on other pools or labels ({_data(cards[-1])}) than {folders[0]} "
                f"({_data(cards[0])}); make a report on each"
            )
    return cards[0].config


def _data(card: RunCard) -> str:
    return f"configuration {plain(card.config)}, fingerprint {plain(card.fingerprint[:12])}"


def results(runs: Sequence[ReportRun]) -> list[Result]:
    """Return the runs as cells of Table 1, the form of the paper's own figures."""
    table_cells = []
    for run in runs:
        cells = {OVERALL: run.scores} | run.scores.by["genre"]
        for genre, scores in cells.items():
            values = {metric: scores.values[metric] or 0.0 for metric in HEADLINE}
            table_cells.append(Result(run.card.name, run.card.paradigm, run.card.modality, genre, values))
    return table_cells


def _labels(cards: Sequence[tuple[RunCard, Path]]) -> list[str]:
    """Return unique labels: the name, then with the modality, then with the folder, then with a number."""
    forms = [
        [
            card.name,
            f"{card.name}, {numbers.modality_label(card.modality)}",
            f"{card.name}, {numbers.modality_label(card.modality)}, {folder.name}",
        ]
        for card, folder in cards
    ]
    chosen = [form[0] for form in forms]
    for level in (1, 2):
        times = Counter(chosen)
        chosen = [name if times[name] == 1 else form[level] for name, form in zip(chosen, forms, strict=True)]
    labels: list[str] = []
    for name in chosen:
        labels.append(unused(name, labels))
    return labels
