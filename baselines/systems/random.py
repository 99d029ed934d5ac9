"""A random order of the pool: what every other system has to beat."""

from __future__ import annotations

from collections.abc import Sequence

from musicrs_metric.base.seeds import shuffled
from musicrs_metric.runs.predictions import Prediction

from ..system import ALL_MODALITIES, Declaration, System, Task


class Random(System):
    """Ranks by chance, each thread by a seed of its own."""

    declaration = Declaration(
        name="random",
        paradigm="traditional",
        modalities=ALL_MODALITIES,
        reads="thread",
        description="A seeded random order of the pool.",
        note="One draw; the exact expectation stands beside every score as chance.",
    )

    def rank(self, batch: Sequence[Task]) -> list[Prediction]:
        """Shuffle every pool."""
        return [self._shuffle(task) for task in batch]

    def _shuffle(self, task: Task) -> Prediction:
        thread = task.thread
        ranking = shuffled(thread.candidates, self.context.seed, thread.thread_id, "random")
        return Prediction(thread.thread_id, tuple(ranking))
