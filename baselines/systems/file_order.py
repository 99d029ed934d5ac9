"""The pool as it is stored: shows whether the stored order gives anything away."""

from __future__ import annotations

from collections.abc import Sequence

from musicrs_metric.runs.predictions import Prediction

from ..system import ALL_MODALITIES, Declaration, System, Task


class FileOrder(System):
    """Leaves the pool as it is."""

    declaration = Declaration(
        name="file_order",
        paradigm="traditional",
        modalities=ALL_MODALITIES,
        reads="thread",
        description="The pool in stored order.",
        note="At chance where the pools were shuffled well.",
    )

    def rank(self, batch: Sequence[Task]) -> list[Prediction]:
        """Return every pool as it is."""
        return [Prediction(task.thread.thread_id, task.thread.candidates) for task in batch]
