"""Ranking by the similarity of vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from musicrs_metric.runs.predictions import Prediction

from ..system import Task
from .vector_cache import Vectors


def candidate_names(batch: Sequence[Task]) -> list[str]:
    """Return the distinct candidates of some threads, in order of appearance."""
    return list(dict.fromkeys(name for task in batch for name in task.thread.candidates))


def rank_by_similarity(
    task: Task,
    query: npt.NDArray[np.floating[Any]],
    vectors: Mapping[str, Vectors],
    texts: Sequence[str] | None = None,
) -> Prediction:
    """Rank a pool by the dot product of its candidates with a query.

    Args:
        task: The thread.
        query: Shape (d,).
        vectors: Text of a candidate to shape (d,).
        texts: One text per candidate; None for the candidates themselves.
    """
    pool = np.stack([vectors[text] for text in texts or task.thread.candidates])
    # einsum adds in one order; a BLAS product may not, depending on the number of threads.
    return task.by_score(np.einsum("nd,d->n", pool, query, dtype=np.float64))
