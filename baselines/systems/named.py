"""Named: likeness of the candidates to the titles that the asker named ("more like these"), without the query.

A candidate scores the largest cosine of its vector and those of the titles named in the post (`submission_entities`).
A thread that names nothing scores 0 throughout, and keeps the order of the pool. On the published file one thread
names nothing. The errors differ from those of encoders that read the query, so a fusion with them gains most.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from musicrs_dataset.records import Thread
from musicrs_metric.runs.predictions import Prediction

from ..system import Context, Declaration, RunFacts, System, Task
from .text_encoder import EncoderOptions, check_fields, chosen_encoder, filled_in, make_embedder


class Named(System):
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
    Options: ClassVar[type[Any]] = EncoderOptions

    def __init__(self, options: EncoderOptions, context: Context) -> None:
        super().__init__(options, context)
        self.failures_are_temporary = options.base_url is not None
        self.declaration, self._encoder = chosen_encoder(self.declaration, options)
        self._embed = make_embedder(options, self._encoder, context)
        check_fields(name_prefix=options.name_prefix)

    def run_facts(self) -> RunFacts:
        """Return the revision of the weights."""
        return RunFacts(model_revision=self._encoder.revision)

    def rank(self, batch: Sequence[Task]) -> list[Prediction]:
        """Rank each pool."""
        return [self._rank(task) for task in batch]

    def close(self) -> None:
        """Save the vectors."""
        self._embed.save()

    def _rank(self, task: Task) -> Prediction:
        thread: Thread = task.thread
        named = [name for name in thread.submission_entities if name.strip()]
        if not named:
            return task.by_score(np.zeros(len(thread.candidates)))
        prefix = filled_in(self.options.name_prefix or "", thread)
        vectors = self._embed([prefix + name for name in (*thread.candidates, *named)])
        pool, asked = np.split(vectors, [len(thread.candidates)])
        return task.by_score(np.einsum("nd,md->nm", pool, asked, dtype=np.float64).max(axis=1))
