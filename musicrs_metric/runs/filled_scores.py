"""Expected scores over all orders of the filled part.

A generative system ranks a part of a pool, and the runner appends the other candidates in random order (the filled
part). `n_answered` counts the ranks of the first part. The filled part scores by chance: an empty answer reaches the
chance level, which is above the popularity baseline on the published pools. These scores keep the first `n_answered`
ranks and replace the filled part by its exact expected value (`musicrs_metric.measures.Measure.expected`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..closed_forms import Rest
from ..hits import Hits, Ints, hits_from_strings
from ..measures import count_hits, measures_at
from ..scoring import Empty, ThreadTable
from .predictions import Prediction
from .references import References


@dataclass(frozen=True)
class FilledScores:
    """Size of the filled part, and the expected scores. All are means over the threads that were scored.

    Attributes:
        answered: Share of a pool that the system ranked itself. Without `n_answered` a ranking counts as answered.
        filled: Share of a pool that was appended. Candidates that are ranked nowhere belong to neither share.
        n_unanswered: Threads of which the system ranked no candidate itself.
        expected: Measure name to the expected score; None if no thread is left to average.
    """

    answered: float
    filled: float
    n_unanswered: int
    expected: dict[str, float | None]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        return asdict(self)


def score_filled(
    predictions: Iterable[Prediction], references: References, table: ThreadTable, empty: Empty = "zero"
) -> FilledScores | None:
    """Score predictions with the filled part at its expected value.

    Args:
        predictions: At most one per thread of the dataset.
        references: The dataset.
        table: The values of the same predictions, for threads in the order of the dataset.
        empty: Whether a thread with an empty ground truth counts as "zero" or is "skip"ped.

    Returns:
        The scores; None if no prediction has `n_answered`, or there are no threads.
    """
    by_thread = {prediction.thread_id: prediction for prediction in predictions}
    if not len(references) or all(prediction.n_answered is None for prediction in by_thread.values()):
        return None
    of_threads = [by_thread.get(thread_id) for thread_id in references.thread_ids]
    lengths = np.array([0 if of is None else len(of.ranking) for of in of_threads], dtype=np.int64)
    starts = np.array([0 if of is None else _n_answered(of) for of in of_threads], dtype=np.int64)
    answers = [None if of is None else of.ranking[:n] for of, n in zip(of_threads, starts.tolist(), strict=True)]
    answer = hits_from_strings(answers, references.ground_truth, references.candidates)
    if answer.pool_size is None:
        raise ValueError("filled parts need the pools; expected a dataset with candidates")
    named, rest = _split(answer, answer.pool_size, starts, table.hits, lengths)
    counts = count_hits(answer, table.k)
    counted = table.hits.n_relevant > 0 if empty == "skip" else np.ones(len(of_threads), dtype=bool)
    n = int(counted.sum())
    size = np.maximum(answer.pool_size, 1)
    return FilledScores(
        answered=float((named / size)[counted].mean()) if n else 0.0,
        filled=float((rest.depth / size)[counted].mean()) if n else 0.0,
        n_unanswered=int((named == 0)[counted].sum()),
        expected={
            measure.name: float(measure.expected(counts, rest)[counted].mean()) if n else None
            for measure in measures_at(table.k)
        },
    )


def _n_answered(prediction: Prediction) -> int:
    return len(prediction.ranking) if prediction.n_answered is None else prediction.n_answered


def _split(answer: Hits, pool_size: Ints, n_answered: Ints, whole: Hits, n_ranked: Ints) -> tuple[Ints, Rest]:
    """Count the candidates that each answer names, and describe the filled part after it."""
    start = n_answered - answer.n_duplicate
    named = start - answer.n_unknown
    rest = Rest(
        start=start,
        depth=n_ranked - whole.n_duplicate - whole.n_unknown - named,
        size=pool_size - named,
        n_relevant=answer.n_reachable - np.bincount(answer.thread, minlength=len(answer)),
    )
    return named, rest
