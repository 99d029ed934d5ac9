"""Popularity as in the MusiCRS paper: the most frequent candidates of the subreddit first.

It counts exact strings in the pools of the subreddit of the thread (before subreddits are merged into genres). Equal
counts keep the order of the pool. This reproduces the row of the paper, 16.51 / 11.09 % recall@20 / ndcg@20, overall
and in all seven genres.
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
        description="Candidates that occur in most pools of the subreddit first.",
        note=(
            "Below chance on the published pools: their distractors are drawn from the other threads of the "
            "subreddit, so a frequent candidate is more often a distractor. That is a property of the pools, not of "
            "music."
        ),
    )

    def prepare(self, threads: Sequence[Thread]) -> None:
        """Count each candidate in the pools of each subreddit."""
        self._counts: dict[str, Counter[str]] = {}
        for thread in threads:
            self._counts.setdefault(thread.subreddit, Counter()).update(thread.candidates)

    def rank(self, batch: Sequence[Task]) -> list[Prediction]:
        """Rank by count."""
        return [self._by_count(task) for task in batch]

    def _by_count(self, task: Task) -> Prediction:
        counts = self._counts[task.thread.subreddit]
        return task.by_score([counts[candidate] for candidate in task.thread.candidates])
