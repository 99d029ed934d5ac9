"""The score of a system without the luck of what it left open.

A generative system answers a part of a pool and its runner appends the rest in random order; `n_answered` says where
the part ends. That rest scores by chance: an answer with nothing in it reaches the chance level, which on the published
pools lies above the popularity baseline. So beside the score stand the share of the pools that was answered, and the
expectation of the score over all orders of the rest: the first `n_answered` places as they are, the rest uniformly
random. It is exact, by the arithmetic of `musicrs_metric.chance` behind a fixed beginning.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..chance import expected_reciprocal_rank, hit_probability
from ..hits import Hits, Ints, hits_from_strings
from ..measures import Floats, discounts, divide, ideal_dcg, measure
from ..scoring import Empty, ThreadTable
from .predictions import Prediction
from .references import References


@dataclass(frozen=True)
class Filled:
    """What a run left open, and its scores with that at chance. All are means over the threads that were scored.

    Attributes:
        answered: Share of a pool that the system ranked itself; a thread that does not say counts as answered.
        filled: Share of a pool that was appended; what is ranked nowhere is in neither.
        n_unanswered: Threads of which the system ranked no candidate itself.
        expected: Measure name to the expected score; None where no thread is left to average.
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
) -> Filled | None:
    """Score predictions with what was appended to them at its expected value.

    Args:
        predictions: At most one per thread of the dataset.
        references: The dataset.
        table: The values of the same predictions, for threads in the order of the dataset.
        empty: Whether a thread with an empty ground truth counts as "zero" or is "skip"ped.

    Returns:
        The account; None where no prediction says how much of it was answered, or there are no threads.
    """
    by_thread = {prediction.thread_id: prediction for prediction in predictions}
    if not len(references) or all(found.n_answered is None for found in by_thread.values()):
        return None
    found = [by_thread.get(thread) for thread in references.thread_ids]
    lengths = np.array([0 if one is None else len(one.ranking) for one in found], dtype=np.int64)
    starts = np.array([0 if one is None else _n_answered(one) for one in found], dtype=np.int64)
    answers = [None if one is None else one.ranking[:n] for one, n in zip(found, starts.tolist(), strict=True)]
    answer = hits_from_strings(answers, references.ground_truth, references.candidates)
    rest = _rest_of(answer, starts, table.hits, lengths)
    values = _expected(answer, rest, table.k)
    counted = table.hits.n_relevant > 0 if empty == "skip" else np.ones(len(found), dtype=bool)
    n = int(counted.sum())
    size = np.maximum(rest.pool_size, 1)
    return Filled(
        answered=float((rest.named / size)[counted].mean()) if n else 0.0,
        filled=float((rest.depth / size)[counted].mean()) if n else 0.0,
        n_unanswered=int((rest.named == 0)[counted].sum()),
        expected={name: float(column[counted].mean()) if n else None for name, column in values.items()},
    )


def _n_answered(prediction: Prediction) -> int:
    return len(prediction.ranking) if prediction.n_answered is None else prediction.n_answered


@dataclass(frozen=True)
class _Rest:
    """What follows the answers of n threads; every array has shape (n,).

    Attributes:
        pool_size: Distinct candidates.
        named: Those that the answer names.
        start: Ranks that the answer takes, unknown titles among them and repeats closed up.
        depth: Candidates that follow.
        size: Candidates that could follow.
        n_relevant: Relevant ones among these.
    """

    pool_size: Ints
    named: Ints
    start: Ints
    depth: Ints
    size: Ints
    n_relevant: Ints


def _rest_of(answer: Hits, n_answered: Ints, whole: Hits, n_ranked: Ints) -> _Rest:
    if answer.pool_size is None:
        raise ValueError("what was appended is told by the pools, expected a dataset that has them")
    start = n_answered - answer.n_duplicate
    named = start - answer.n_unknown
    n_hits = np.bincount(answer.thread, minlength=len(answer))
    return _Rest(
        pool_size=answer.pool_size,
        named=named,
        start=start,
        depth=n_ranked - whole.n_duplicate - whole.n_unknown - named,
        size=answer.pool_size - named,
        n_relevant=answer.n_reachable - n_hits,
    )


def _expected(answer: Hits, rest: _Rest, k: Sequence[int]) -> dict[str, Floats]:
    """Every measure of every thread: that of the answer, and what the rest adds to it on average."""
    values = measure(answer, tuple(k))
    share = divide(rest.n_relevant.astype(np.float64), rest.size)
    end = rest.start + rest.depth
    gains = np.concatenate([[0.0], np.cumsum(discounts(int(end.max(initial=0))))])
    counts = list(
        zip(*(column.tolist() for column in (rest.size, rest.n_relevant, rest.start, rest.depth)), strict=True)
    )
    for c in k:
        reached = np.clip(c - rest.start, 0, rest.depth)
        more = share * reached
        values[f"recall@{c}"] += divide(more, answer.n_relevant)
        values[f"precision@{c}"] += more / c
        gain = share * (gains[rest.start + reached] - gains[rest.start])
        values[f"ndcg@{c}"] += divide(gain, ideal_dcg(answer.n_relevant, c))
        drawn = zip(counts, reached.tolist(), strict=True)
        chances = np.array([hit_probability(size, relevant, n) for (size, relevant, _, _), n in drawn])
        values[f"hit@{c}"] = np.maximum(values[f"hit@{c}"], chances)
    late = [expected_reciprocal_rank(size, n, after=start, depth=depth) for size, n, start, depth in counts]
    values["mrr"] = np.where(values["mrr"] > 0, values["mrr"], late)
    return values
