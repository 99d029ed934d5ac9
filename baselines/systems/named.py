"""Named: likeness of the candidates to the titles that the asker named ("more like these"), without the query.

A candidate scores the largest cosine of its vector and those of the titles named in the post (`submission_entities`).
A thread that names nothing scores 0 throughout, and keeps the order of the pool. On the published file one thread
names nothing. The errors differ from those of encoders that read the query, so a fusion with them gains most.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from musicrs_dataset.records import Thread
from musicrs_metric.runs.predictions import Prediction

from ..embedding.encoder_system import EncoderSystem, filled_in
from ..system import Declaration, Task


class Named(EncoderSystem):
    """Ranks by the likeness to the titles that the asker named."""

    declaration = Declaration(
        name="named",
        paradigm="retrieval",
        modalities=("query_only",),
        reads="thread",
        description="Largest cosine of candidate and the titles named in the post, under any text encoder.",
        needs=("torch", "transformers", "accelerate"),
        open_weights=True,
    )

    def rank(self, batch: Sequence[Task]) -> list[Prediction]:
        """Rank each pool."""
        return [self._rank(task) for task in batch]

    def _rank(self, task: Task) -> Prediction:
        thread: Thread = task.thread
        named = [name for name in thread.submission_entities if name.strip()]
        if not named:
            return task.by_score(np.zeros(len(thread.candidates)))
        prefix = filled_in(self.options.name_prefix or "", thread)
        vectors = self._embed([*self._names(thread), *(prefix + name for name in named)])
        pool, asked = np.split(vectors, [len(thread.candidates)])
        return task.by_score(np.einsum("nd,md->nm", pool, asked, dtype=np.float64).max(axis=1))
