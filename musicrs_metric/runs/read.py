"""From a prediction file or a run folder to its scores, joined to a dataset by thread id."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import UserError, plain, show
from ..hits import hits_from_strings
from ..intervals import CONFIDENCE, RESAMPLES
from ..measures import DEFAULT_K
from ..scoring import Empty, Scores, ThreadTable, summarise, thread_table
from .diagnostics import Oddities, find_oddities
from .filled_scores import FilledScores, score_filled
from .predictions import PREDICTIONS, Prediction, PredictionFile, contradictions, rankings_for, read_predictions
from .references import DEFAULT_CONFIG, References
from .run_card import RUN_CARD, RunCard, read_run_card


@dataclass(frozen=True)
class ScoredRun:
    """The scores of one set of predictions, and the threads that need a word.

    Attributes:
        references: The dataset.
        scores: Means with chance, ceiling and interval, grouped as asked.
        table: The same measures thread by thread, in dataset order.
        missing: Threads without a prediction; each scored 0.
        empty_threads: Threads with an empty ground truth.
        warnings: What was set aside while reading the file.
        filled: What was appended to the answers, and the scores with that at chance; None where no prediction says
            how much of it was answered.
        oddities: Empty rankings, and titles that no pool holds.
        answered_only: Whether what was appended to the answers was left out.
        contradictions: Threads whose scores contradict the order of their ranking. The ranking counts.
    """

    references: References
    scores: Scores
    table: ThreadTable
    missing: tuple[str, ...]
    empty_threads: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    filled: FilledScores | None = None
    oddities: Oddities | None = None
    answered_only: bool = False
    contradictions: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types: `Scores.to_dict`, the names of the threads, the warnings, and what data it was.

        Where predictions say how much of them was answered, `filled` holds what was appended.
        """
        data: dict[str, Any] = {"dataset": self.references.name, "config": self.references.config}
        data["fingerprint"] = self.references.fingerprint
        words = {"missing": self.missing, "empty_threads": self.empty_threads, "warnings": self.warnings}
        words["contradicting_scores"] = self.contradictions
        filled = {} if self.filled is None else {"filled": self.filled.to_dict()}
        if self.answered_only:
            data["answered_only"] = True
        if self.oddities is not None:
            words["empty_rankings"] = self.oddities.empty
        return self.scores.to_dict() | filled | data | {name: list(values) for name, values in words.items()}


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
        answered_only: Whether to leave out what was appended to an answer (`n_answered`): an empty answer scores 0.

    Returns:
        The scores; a thread without a prediction counts as 0 and is named.

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
    found = predictions.predictions if isinstance(predictions, PredictionFile) else tuple(predictions)
    contradicting = contradictions(found)
    if answered_only:
        found = tuple(replace(each, ranking=each.ranking[: each.n_answered], scores=None) for each in found)
    rankings = rankings_for(found, references)
    table = thread_table(hits_from_strings(rankings, references.ground_truth, references.candidates), k)
    groups = {grouping: references.groups[grouping] for grouping in by}
    scores = summarise(table, groups=groups, empty=empty, confidence=confidence, resamples=resamples, seed=seed)
    threads = references.thread_ids
    return ScoredRun(
        references=references,
        scores=scores,
        table=table,
        missing=tuple(thread for thread, ranking in zip(threads, rankings, strict=True) if ranking is None),
        empty_threads=tuple(thread for thread, n in zip(threads, table.hits.n_relevant, strict=True) if n == 0),
        warnings=predictions.warnings if isinstance(predictions, PredictionFile) else (),
        filled=None if answered_only else score_filled(found, references, table, empty),
        oddities=find_oddities(rankings, references, table.hits),
        answered_only=answered_only,
        contradictions=contradicting,
    )


# Where a run keeps what it has ranked so far.
_PARTS = "parts"
_FINGERPRINT = re.compile("[0-9a-f]{64}")


class RunFiles(NamedTuple):
    """What a system wrote.

    Attributes:
        card: Its run card; None where no `run.json` lies beside the predictions.
        predictions: Its prediction file.
    """

    card: RunCard | None
    predictions: PredictionFile


def read_run(path: str | Path, references: References | None = None) -> RunFiles:
    """Read a run; a run card beside the predictions must be readable and tell of the same data.

    Args:
        path: The prediction file, or the run folder that holds `predictions.jsonl`.
        references: The dataset, if thread ids and data are to be checked against it.

    Returns:
        The card, if there is one, and the predictions.

    Raises:
        PredictionError: The file is refused.
        UserError: The card cannot be read or tells of other data.
    """
    card = card_of(path)
    if card is not None and references is not None:
        check_data(card, references, str(_file(path).with_name(RUN_CARD)))
    return RunFiles(card, read_predictions(_file(path), references))


def card_of(path: str | Path) -> RunCard | None:
    """The run card that lies beside a prediction file, or None.

    Args:
        path: The prediction file, or the run folder that holds `predictions.jsonl`.

    Raises:
        UserError: The card cannot be read.
    """
    card = _file(path).with_name(RUN_CARD)
    return read_run_card(card) if _file(path).name == PREDICTIONS and card.is_file() else None


def config_of(path: str | Path) -> str:
    """The configuration that a run was made on; without a run card, one that every dataset has.

    Args:
        path: The prediction file, or the run folder that holds `predictions.jsonl`.

    Raises:
        UserError: The card cannot be read.
    """
    card = card_of(path)
    return DEFAULT_CONFIG if card is None else card.config


def _file(path: str | Path) -> Path:
    if not Path(path).is_dir():
        return Path(path)
    check_finished(Path(path))
    return Path(path) / PREDICTIONS


def check_finished(folder: Path) -> None:
    """Refuse a run folder in which a run has begun and not ended.

    Args:
        folder: A folder.

    Raises:
        UserError: There are parts of a run in it, and no predictions.
    """
    if (folder / _PARTS).is_dir() and not (folder / PREDICTIONS).exists():
        raise UserError(f"{folder}: the run is not finished; start it again with the same command, or leave it out")


def check_data(card: RunCard, references: References, place: str = RUN_CARD) -> None:
    """Refuse a run that was made on other pools or labels than those of a dataset.

    Args:
        card: The run's card.
        references: The dataset.
        place: What to call the card in the message.

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
