"""Lexical: BM25 with the candidate names as documents and the query as the query.

Tokens are runs of two or more word characters (letters, digits, underscore), in lower case; there is no stop word list
and no stemming. A word of the query counts once, however often it stands there. Document frequencies and the mean
length come from all distinct names of the dataset, which is what the system reads of other threads; scoring is that of
bm25s (method "lucene", k1 = 1.5, b = 0.75). Most names share no word with the query and score 0: among equal scores the
place in the pool decides. On the published file: 26.4 / 22.3 / 37.4 % (recall@20 / ndcg@20 / mrr).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from musicrs_dataset.records import Thread
from musicrs_metric.runs.predictions import Prediction

from ..system import Declaration, System, Task
from ..texts import query_of

_WORD = re.compile(r"\b\w\w+\b")


def words(text: str) -> list[str]:
    """Split a text into its tokens, in order, repeats included."""
    return _WORD.findall(text.lower())


class Lexical(System):
    """Ranks by BM25 of query and candidate name."""

    declaration = Declaration(
        name="lexical",
        paradigm="retrieval",
        modalities=("query_only",),
        reads="pools",
        description="BM25 of query and candidate name; document frequencies over all names of the dataset.",
        needs=("bm25s",),
    )

    def prepare(self, threads: Sequence[Thread]) -> None:
        """Index all distinct names."""
        import bm25s

        names = dict.fromkeys(name for thread in threads for name in thread.candidates)
        self._place = {name: place for place, name in enumerate(names)}
        self._index = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
        self._index.index([words(name) for name in names], show_progress=False)

    def rank(self, batch: Sequence[Task]) -> list[Prediction]:
        """Rank by BM25."""
        return [self._by_words(task) for task in batch]

    def _by_words(self, task: Task) -> Prediction:
        query = list(dict.fromkeys(words(query_of(task.thread))))
        scores = self._index.get_scores(query) if query else np.zeros(len(self._place))
        return task.by_score([scores[self._place[name]] for name in task.thread.candidates])
