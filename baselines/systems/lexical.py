"""Lexical: BM25 with the titles as documents and the query as the query.

Tokens are runs of two or more word characters (letters, digits, underscore), in lower case, without a stop word list
and without stemming. A word of the query counts once, however often it occurs. Document frequencies and the mean length
come from all distinct titles of the dataset; this is the data that the system reads of other threads. bm25s computes
the scores (method "lucene", k1 = 1.5, b = 0.75). Most titles share no word with the query and score 0. Equal scores
keep the order of the pool. On the published file: 26.4 / 22.3 / 37.4 % (recall@20 / ndcg@20 / mrr).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from musicrs_dataset.records import Thread
from musicrs_metric.runs.predictions import Prediction

from ..data import query_of
from ..system import Declaration, System, Task

_WORD = re.compile(r"\b\w\w+\b")


def words(text: str) -> list[str]:
    """Split a text into its tokens, in order and with repeats."""
    return _WORD.findall(text.lower())


class Lexical(System):
    """Ranks by BM25 of query and title."""

    declaration = Declaration(
        name="lexical",
        paradigm="retrieval",
        modalities=("query_only",),
        reads="pools",
        description="BM25 of query and title; document frequencies over all titles of the dataset.",
        needs=("bm25s",),
    )

    def prepare(self, threads: Sequence[Thread]) -> None:
        """Index all distinct titles."""
        import bm25s

        names = dict.fromkeys(name for thread in threads for name in thread.candidates)
        self._row = {name: row for row, name in enumerate(names)}
        self._index = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
        documents = [words(name) for name in names]
        self._has_words = any(documents)  # bm25s cannot index titles such as "A" and "B" alone
        if self._has_words:
            self._index.index(documents, show_progress=False)

    def rank(self, batch: Sequence[Task]) -> list[Prediction]:
        """Rank by BM25."""
        return [self._by_words(task) for task in batch]

    def _by_words(self, task: Task) -> Prediction:
        query = list(dict.fromkeys(words(query_of(task.thread))))
        scores = self._index.get_scores(query) if query and self._has_words else np.zeros(len(self._row))
        return task.by_score([scores[self._row[name]] for name in task.thread.candidates])
