"""Scores of a prediction file or a run folder, joined to a dataset by thread id."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..catalogue.compare import group_labels, unit_table
from ..errors import UserError, plain, show, some
from ..hits import hits_from_strings
from ..intervals import CONFIDENCE, RESAMPLES
from ..measures import DEFAULT_K
from ..scoring import Empty, Scores, ThreadTable, summarise, thread_table
from .diagnostics import Diagnostics, diagnose
from .filled_scores import FilledScores, score_filled
from .predictions import PREDICTIONS, Prediction, PredictionFile, contradictions, rankings_for, read_predictions
from .references import DEFAULT_CONFIG, References
from .run_card import RUN_CARD, RunCard, read_run_card

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True)
class ScoredRun:
    """Scores of one set of predictions, with the threads to report.

    Attributes:
        references: The dataset.
        scores: Means with chance, ceiling and interval, overall and per group.
        table: The same measures per thread, in dataset order.
        missing: Threads without a prediction; each scored 0.
        empty_threads: Threads with an empty ground truth.
        warnings: Lines that the reader of the file set aside.
        filled: Scores with the filled part at its expected value; None if no prediction has `n_answered`.
        diagnostics: Empty rankings, and titles that no pool holds.
        answered_only: Whether the filled part was excluded.
        contradictions: Threads whose scores contradict the order of their ranking. The ranking counts.
    """

    references: References
    scores: Scores
    table: ThreadTable
    missing: tuple[str, ...]
    empty_threads: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    filled: FilledScores | None = None
    diagnostics: Diagnostics | None = None
    answered_only: bool = False
    contradictions: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types: `Scores.to_dict`, the data, names of threads, warnings, and `filled` if known."""
        data: dict[str, Any] = {"dataset": self.references.name, "config": self.references.config}
        data["fingerprint"] = self.references.fingerprint
        lists = {"missing": self.missing, "empty_threads": self.empty_threads, "warnings": self.warnings}
        lists["contradicting_scores"] = self.contradictions
        filled = {} if self.filled is None else {"filled": self.filled.to_dict()}
        if self.answered_only:
            data["answered_only"] = True
        if self.diagnostics is not None:
            lists["empty_rankings"] = self.diagnostics.empty
        return self.scores.to_dict() | filled | data | {name: list(values) for name, values in lists.items()}

    def lines(self, title: str) -> Iterator[str | Table]:
        """Yield what `score` prints: tables, and sentences of one line each.

        Args:
            title: What was scored.
        """
        from .score_tables import filled_sentence, group_table, score_table, sentences

        yield score_table(self.scores, title, self.filled)
        if self.filled is not None:
            yield filled_sentence(self.filled)
        if self.answered_only:
            yield "The filled part is excluded: an empty answer scores 0."
        for grouping, groups in self.scores.by.items():
            yield group_table(groups, grouping)
        yield from sentences(self.scores)
        if self.missing:
            yield f"Without a prediction: {some(self.missing)}."
        yield from self.notes()

    def notes(self) -> Iterator[str]:
        """Yield the sentences of the diagnostics, then the warnings."""
        if self.diagnostics is not None:
            yield from self.diagnostics.sentences()
        for warning in self.warnings:
            yield f"Warning: {warning}"


def score_predictions(
    predictions: str | Path | PredictionFile | Iterable[Prediction],
    references: References,
    *,
    by: Sequence[str] = (),
    k: int | Iterable[int] = DEFAULT_K,
    empty: Empty = "zero",
    confidence: float | None = CONFIDENCE,
    resamples: int = RESAMPLES,
    seed: int = 0,
    answered_only: bool = False,
) -> ScoredRun:
    """Score predictions against a dataset.

    Args:
        predictions: A prediction file, the run folder that holds it, or predictions in memory.
        references: The dataset.
        by: Groupings among "genre", "subreddit" and "macro".
        k: Cutoffs.
        empty: Whether a thread with an empty ground truth counts as "zero" or is "skip"ped.
        confidence: Coverage of the intervals, or None for none.
        resamples: Bootstrap resamples.
        seed: Seed of the bootstrap.
        answered_only: Whether to exclude the filled part (`n_answered`), so that an empty answer scores 0.

    Returns:
        The scores. A thread without a prediction counts as 0 and is named. If the threads are turns of dialogues, the
        means are over dialogues (macro), and `n` counts dialogues.

    Raises:
        PredictionError: The file is refused.
        UserError: The run was made on other data, or a grouping or thread is unknown.
        ValueError: A setting is out of range; see `musicrs_metric.scoring.score`.
    """
    unknown = [grouping for grouping in by if grouping not in references.groups]
    if unknown:
        raise UserError(f"no grouping {unknown[0]!r}; expected one of {', '.join(references.groups)}")
    if isinstance(predictions, str | Path):
        predictions = read_run(predictions, references).predictions
    scored = predictions.predictions if isinstance(predictions, PredictionFile) else tuple(predictions)
    contradicting = contradictions(scored)
    if answered_only:
        scored = tuple(replace(each, ranking=each.ranking[: each.n_answered], scores=None) for each in scored)
    rankings = rankings_for(scored, references)
    table = thread_table(hits_from_strings(rankings, references.ground_truth, references.candidates), k)
    # Turns of one dialogue depend on each other: intervals, tests and verdicts draw dialogues.
    units, groups = unit_table(table, references, empty), group_labels(references, by)
    scores = summarise(units, groups=groups, empty=empty, confidence=confidence, resamples=resamples, seed=seed)
    threads = references.thread_ids
    return ScoredRun(
        references=references,
        scores=scores,
        table=table,
        missing=tuple(thread for thread, ranking in zip(threads, rankings, strict=True) if ranking is None),
        empty_threads=tuple(thread for thread, n in zip(threads, table.hits.n_relevant, strict=True) if n == 0),
        warnings=predictions.warnings if isinstance(predictions, PredictionFile) else (),
        filled=None if answered_only or units is not table else score_filled(scored, references, table, empty),
        diagnostics=diagnose(rankings, references, table.hits),
        answered_only=answered_only,
        contradictions=contradicting,
    )


# Folder in which a runner stores the threads that it has ranked so far.
_PARTS = "parts"
_FINGERPRINT = re.compile("[0-9a-f]{64}")


class RunFiles(NamedTuple):
    """Files of a run.

    Attributes:
        card: Its run card; None if there is no `run.json` next to the predictions.
        predictions: Its prediction file.
    """

    card: RunCard | None
    predictions: PredictionFile


def read_run(path: str | Path, references: References | None = None) -> RunFiles:
    """Read a run. A run card next to the predictions must be readable and describe the same data.

    Args:
        path: The prediction file, or the run folder that holds `predictions.jsonl`.
        references: The dataset, to check thread ids and data against it.

    Returns:
        The card, if there is one, and the predictions.

    Raises:
        PredictionError: The file is refused.
        UserError: The card cannot be read, or it describes other data.
    """
    return _read(path, card_of(path), references)


def read_run_on(path: str | Path, dataset: str, config: str | None = None) -> tuple[RunFiles, References]:
    """Read a run and the dataset that it was made on.

    Args:
        path: The prediction file, or the run folder that holds `predictions.jsonl`.
        dataset: Directory or name of the dataset.
        config: Its configuration. None: that of the run card, or else one that every dataset has.

    Raises:
        PredictionError: The file is refused.
        UserError: The card or the dataset cannot be read, or they do not match.
    """
    card = card_of(path)
    from ..catalogue.corpus import load_labels

    references = load_labels(dataset, _config(card) if config is None else config)
    return _read(path, card, references), references


def card_of(path: str | Path) -> RunCard | None:
    """Return the run card next to a prediction file, or None.

    Args:
        path: The prediction file, or the run folder that holds `predictions.jsonl`.

    Raises:
        UserError: The card cannot be read.
    """
    card = _file(path).with_name(RUN_CARD)
    return read_run_card(card) if _file(path).name == PREDICTIONS and card.is_file() else None


def config_of(path: str | Path) -> str:
    """Return the configuration that a run was made on. Without a run card, one that every dataset has.

    Args:
        path: The prediction file, or the run folder that holds `predictions.jsonl`.

    Raises:
        UserError: The card cannot be read.
    """
    return _config(card_of(path))


def check_finished(folder: Path) -> None:
    """Refuse a run folder in which a run has started but not finished.

    Args:
        folder: A folder.

    Raises:
        UserError: The folder holds parts of a run, and no predictions.
    """
    if (folder / _PARTS).is_dir() and not (folder / PREDICTIONS).exists():
        raise UserError(f"{folder}: the run is not finished; start it again with the same command, or leave it out")


def check_data(card: RunCard, references: References, place: str = RUN_CARD) -> None:
    """Refuse a run that was made on other pools or labels than those of a dataset.

    Args:
        card: The run's card.
        references: The dataset.
        place: Name of the card in the message.

    Raises:
        UserError: The fingerprints differ.
    """
    if card.fingerprint != references.fingerprint:
        if not _FINGERPRINT.fullmatch(card.fingerprint):
            raise UserError(
                f"{place}: field 'fingerprint' is {show(card.fingerprint)}, expected the 64 hexadecimal digits of the "
                "dataset's; `python -m musicrs_metric card` writes a card with them"
            )
        raise UserError(
            f"{place}: the run was made on {plain(card.config)} of {plain(card.dataset)} "
            f"(fingerprint {plain(card.fingerprint[:12])}), "
            f"but {references.config} of {references.name} has other pools or labels "
            f"(fingerprint {references.fingerprint[:12]}); "
            "score it against the data that it was made on"
        )


def _read(path: str | Path, card: RunCard | None, references: References | None) -> RunFiles:
    if card is not None and references is not None:
        check_data(card, references, str(_file(path).with_name(RUN_CARD)))
    return RunFiles(card, read_predictions(_file(path), references))


def _config(card: RunCard | None) -> str:
    return DEFAULT_CONFIG if card is None else card.config


def _file(path: str | Path) -> Path:
    if not Path(path).is_dir():
        return Path(path)
    check_finished(Path(path))
    return Path(path) / PREDICTIONS
