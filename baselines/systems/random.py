"""A random order of the pool, which every other system must beat."""

from __future__ import annotations

from collections.abc import Sequence

from musicrs_metric.base.seeds import shuffled
from musicrs_metric.runs.predictions import Prediction

from ..system import ALL_MODALITIES, Declaration, System, Task


class Random(System):
    """Shuffles each pool, with its own seed per thread."""

    declaration = Declaration(
        name="random",
        paradigm="traditional",
        modalities=ALL_MODALITIES,
        reads="thread",
        description="A seeded random order of the pool.",
        note="One draw. The table of every score shows the exact expectation as chance.",
    )

    def rank(self, batch: Sequence[Task]) -> list[Prediction]:
        """Shuffle every pool."""
        return [self._shuffle(task) for task in batch]

    def _shuffle(self, task: Task) -> Prediction:
        thread = task.thread
        ranking = shuffled(thread.candidates, self.context.seed, thread.thread_id, "random")
        return Prediction(thread.thread_id, tuple(ranking))
