"""Popularity as the MusiCRS paper has it: the entities that fill most pools of the subreddit first.

The count goes over the pools themselves, by exact string and within the thread's own subreddit (before subreddits are
merged into genres); among equal counts the place in the pool decides. This reproduces the paper's row, 16.51 / 11.09 %
recall@20 / ndcg@20, overall and in all seven genres.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from musicrs_dataset.records import Thread
from musicrs_metric.runs.predictions import Prediction

from ..system import Declaration, System, Task


class Popularity(System):
    """Ranks by frequency in the pools of the subreddit."""

    declaration = Declaration(
        name="popularity",
        paradigm="traditional",
        modalities=("query_only",),
        reads="pools",
        description="Candidates that stand in most pools of the subreddit first.",
        note=(
            "Below chance on the published pools: their wrong answers are drawn from the other threads of the "
            "subreddit, so a frequent entity is more often a wrong answer. That is a property of the pools, not of "
            "music."
        ),
    )

    def prepare(self, threads: Sequence[Thread]) -> None:
        """Count in how many pool places of each subreddit a string stands."""
        self._counts: dict[str, Counter[str]] = {}
        for thread in threads:
            self._counts.setdefault(thread.subreddit, Counter()).update(thread.candidates)

    def rank(self, batch: Sequence[Task]) -> list[Prediction]:
        """Rank by count."""
        return [self._by_count(task) for task in batch]

    def _by_count(self, task: Task) -> Prediction:
        counts = self._counts[task.thread.subreddit]
        return task.by_score([counts[candidate] for candidate in task.thread.candidates])
