"""Ranking by the similarity of vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from musicrs_metric.runs.predictions import Prediction

from ..system import Task
from .vector_cache import Vectors


def candidate_names(batch: Sequence[Task]) -> list[str]:
    """Return the distinct candidates of some threads, in order of appearance."""
    return list(dict.fromkeys(name for task in batch for name in task.thread.candidates))


def rank_by_similarity(task: Task, query: Vectors, vectors: Mapping[str, Vectors]) -> Prediction:
    """Rank a pool by the dot product of its candidates with a query.

    Args:
        task: The thread.
        query: Shape (d,).
        vectors: Candidate to shape (d,).
    """
    pool = np.stack([vectors[name] for name in task.thread.candidates])
    # einsum adds in one order; a BLAS product may not, depending on the number of threads.
    return task.by_score(np.einsum("nd,d->n", pool, query, dtype=np.float64))
