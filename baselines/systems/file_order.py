"""The stored order of the pool, to show whether this order leaks relevant candidates."""

from __future__ import annotations

from collections.abc import Sequence

from musicrs_metric.runs.predictions import Prediction

from ..system import ALL_MODALITIES, Declaration, System, Task


class FileOrder(System):
    """Keeps the stored order."""

    declaration = Declaration(
        name="file_order",
        paradigm="traditional",
        modalities=ALL_MODALITIES,
        reads="thread",
        description="The pool in stored order.",
        note="At chance if the pools were shuffled well.",
    )

    def rank(self, batch: Sequence[Task]) -> list[Prediction]:
        """Return every pool in stored order."""
        return [Prediction(task.thread.thread_id, task.thread.candidates) for task in batch]
