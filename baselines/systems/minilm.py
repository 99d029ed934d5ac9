"""MiniLM: similarity of titles to the query under a small sentence encoder.

all-MiniLM-L6-v2, mean pooling, up to 256 tokens, vectors of length 1. On the published file the cosine of query and
title reaches 24.94 / 19.81 / 32.38 % (recall@20 / ndcg@20 / mrr), more than every row of Table 1 of the paper. With
`--center`, the mean vector of all queries is subtracted from the query, and the mean vector of all distinct titles from
the titles. The score is then the dot product, without new normalisation: 27.88 / 22.99 / 37.12 %. The common part of
all queries, and that of all titles, no longer counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from musicrs_dataset.records import Thread
from musicrs_metric.runs.predictions import Prediction
from musicrs_metric.runs.run_card import Reads

from ..data import query_of
from ..embedding.minilm_weights import HELP, MODEL_ID, find_minilm
from ..embedding.similarity import candidate_names, rank_by_similarity
from ..embedding.text_embedder import TextEmbedder
from ..options import option
from ..system import Context, Declaration, RunFacts, System, Task

MAX_TOKENS = 256


@dataclass(frozen=True)
class MiniLMOptions:
    """Options of `minilm`."""

    center: bool = option(False, "subtract the mean query and the mean title vector; reads texts of other threads")
    weights: str | None = option(None, HELP)


class MiniLM(System):
    """Ranks by the similarity of query and title."""

    declaration = Declaration(
        name="minilm",
        paradigm="retrieval",
        modalities=("query_only",),
        reads="thread",
        description="Cosine of query and title under all-MiniLM-L6-v2; --center subtracts the mean vectors.",
        needs=("torch", "transformers", "accelerate"),
        model_id=MODEL_ID,
        licence="Apache-2.0",
        open_weights=True,
    )
    Options = MiniLMOptions

    def __init__(self, options: MiniLMOptions, context: Context) -> None:
        super().__init__(options, context)
        self._weights = find_minilm(options.weights)
        self._embed = TextEmbedder(self._weights, MAX_TOKENS, context)
        self._mean_query: npt.NDArray[np.float64] | float = 0.0
        self._mean_name: npt.NDArray[np.float64] | float = 0.0

    @property
    def reads(self) -> Reads:
        """Data of other threads: with `--center` the means over their queries and pools."""
        return "pools" if self.options.center else "thread"

    def run_facts(self) -> RunFacts:
        """Return the revision of the weights."""
        return RunFacts(model_revision=self._weights.revision)

    def prepare(self, threads: Sequence[Thread]) -> None:
        """Compute the mean vectors, with `--center`."""
        if not self.options.center:
            return
        names = dict.fromkeys(name for thread in threads for name in thread.candidates)
        self._mean_query = self._embed([query_of(thread) for thread in threads]).mean(axis=0, dtype=np.float64)
        self._mean_name = self._embed(list(names)).mean(axis=0, dtype=np.float64)
        self._embed.save()

    def rank(self, batch: Sequence[Task]) -> list[Prediction]:
        """Embed the queries and titles of the batch together, and rank by dot product."""
        queries = self._embed([query_of(task.thread) for task in batch]) - self._mean_query
        names = candidate_names(batch)
        vectors = dict(zip(names, self._embed(names) - self._mean_name, strict=True))
        return [rank_by_similarity(task, query, vectors) for task, query in zip(batch, queries, strict=True)]

    def close(self) -> None:
        """Save the vectors."""
        self._embed.save()
