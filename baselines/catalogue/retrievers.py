"""Systems that rank a catalogue: `random`, `popularity`, `lexical` and `minilm`. Each builds its index once.

Equal scores are ordered by id. Rankings name items, not clusters, and include known items: scoring merges and removes.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from musicrs_metric.base.seeds import derive
from musicrs_metric.catalogue.corpus import DIALOGUE, Corpus
from musicrs_metric.runs.run_card import Paradigm, Reads

from ..system import Context

DEPTH = 1_000
_WORD = re.compile(r"[a-z0-9]+")
_BLOCK = 64  # queries per matrix product of text vectors

Rows = npt.NDArray[np.intp]


def words(text: str) -> list[str]:
    """Split a text into runs of a-z and 0-9 in lower case, in order and with repeats."""
    return _WORD.findall(text.lower())


class Retriever(ABC):
    """A system that ranks a catalogue.

    Args:
        corpus: The corpus. Its labels are for systems that declare `reads = "labels"`.
        context: Seed and cache of the run.

    Attributes:
        paradigm: Kind of system.
        reads: Data that the system uses beyond its own turn and the catalogue.
        needs: Packages that it imports beyond the core.
        model_id: Public name of its model; None without a model.
    """

    paradigm: ClassVar[Paradigm] = "traditional"
    reads: ClassVar[Reads] = "thread"
    needs: ClassVar[tuple[str, ...]] = ()
    model_id: ClassVar[str | None] = None

    def __init__(self, corpus: Corpus, context: Context) -> None:
        self.corpus, self.context = corpus, context
        self.items = sorted(corpus.catalogue.items, key=lambda item: item.id)
        self.ids = [item.id for item in self.items]
        self.depth = min(DEPTH, len(self.ids))

    @property
    def index_bytes(self) -> int:
        """Memory of the index in bytes; 0 without an index."""
        return 0

    @property
    def model_revision(self) -> str | None:
        """Revision of the weights; None without a model."""
        return None

    @abstractmethod
    def rows(self) -> Iterator[Rows]:
        """Yield one ranking per turn, in dataset order: positions in `ids`, best first."""

    def rankings(self) -> Iterator[tuple[str, ...]]:
        """Yield one ranking of ids per turn, in dataset order."""
        for row in self.rows():
            yield tuple([self.ids[i] for i in row.tolist()])


class RandomCatalogue(Retriever):
    """Ranks in random order, with one seed per turn."""

    def rows(self) -> Iterator[Rows]:
        """Yield random orders."""
        for thread_id in self.corpus.thread_ids:
            generator = np.random.default_rng(derive(self.context.seed, thread_id, "catalogue"))
            yield generator.permutation(len(self.ids))[: self.depth]


class PopularityCatalogue(Retriever):
    """Ranks by the number of other dialogues in whose ground truth an item is."""

    reads = "labels"

    def rows(self) -> Iterator[Rows]:
        """Yield the counts of the other dialogues, in order."""
        row_of = {name: row for row, name in enumerate(self.ids)}
        own: dict[str, set[int]] = {}
        for dialogue, truth in zip(self.corpus.groups[DIALOGUE], self.corpus.ground_truth, strict=True):
            own.setdefault(dialogue, set()).update(row_of[item] for item in truth if item in row_of)
        counts = np.zeros(len(self.ids))
        for relevant in own.values():
            counts[list(relevant)] += 1
        orders: dict[str, Rows] = {}
        for dialogue in self.corpus.groups[DIALOGUE]:
            if dialogue not in orders:
                others = counts.copy()
                others[list(own[dialogue])] -= 1
                orders[dialogue] = best_rows(others, self.depth)
            yield orders[dialogue]


class LexicalCatalogue(Retriever):
    """Ranks by BM25 of the query, and title, artists and album. bm25s computes the scores (lucene, k1 1.5, b 0.75).

    A word of the query counts once.
    """

    paradigm = "retrieval"
    needs = ("bm25s",)

    def __init__(self, corpus: Corpus, context: Context) -> None:
        super().__init__(corpus, context)
        import bm25s

        # In single precision, the order of the words of a query would decide between equal scores.
        self._index: Any = bm25s.BM25(method="lucene", k1=1.5, b=0.75, dtype="float64")
        documents = [words(item.text) for item in self.items]
        self._has_words = any(documents)
        if self._has_words:
            self._index.index(documents, show_progress=False)

    @property
    def index_bytes(self) -> int:
        """Memory of the inverted index in bytes."""
        parts = self._index.scores.values() if self._has_words else ()
        return sum(part.nbytes for part in parts if isinstance(part, np.ndarray))

    def rows(self) -> Iterator[Rows]:
        """Yield the items with the highest scores."""
        nothing = np.zeros(len(self.ids))
        for query in self.corpus.queries:
            distinct = sorted(set(words(query)))
            scores = self._index.get_scores(distinct) if distinct and self._has_words else nothing
            yield best_rows(scores, self.depth)


class MiniLMCatalogue(Retriever):
    """Ranks by the cosine of query and item text under all-MiniLM-L6-v2."""

    paradigm = "retrieval"
    needs = ("torch", "transformers", "accelerate")
    model_id = "sentence-transformers/all-MiniLM-L6-v2"

    def __init__(self, corpus: Corpus, context: Context) -> None:
        super().__init__(corpus, context)
        from ..embedding.minilm_weights import find_minilm
        from ..embedding.text_embedder import TextEmbedder

        self._weights = find_minilm(None)
        self._embed = TextEmbedder(self._weights.encoder(256), context)
        self._vectors = self._embed([item.text or item.id for item in self.items])

    @property
    def index_bytes(self) -> int:
        """Memory of the vectors of the items in bytes."""
        return int(self._vectors.nbytes)

    @property
    def model_revision(self) -> str | None:
        """Revision of the weights."""
        return self._weights.revision

    def rows(self) -> Iterator[Rows]:
        """Yield the items with the highest cosine."""
        queries = self._embed(list(self.corpus.queries))
        self._embed.save()
        for start in range(0, len(queries), _BLOCK):
            for scores in queries[start : start + _BLOCK] @ self._vectors.T:
                yield best_rows(scores, self.depth)


RETRIEVERS: dict[str, type[Retriever]] = {
    "random": RandomCatalogue,
    "popularity": PopularityCatalogue,
    "lexical": LexicalCatalogue,
    "minilm": MiniLMCatalogue,
}


def best_rows(scores: npt.NDArray[np.floating[Any]], depth: int) -> Rows:
    """Return the positions of the highest scores, best first; equal scores by position.

    Args:
        scores: One finite number per item.
        depth: Number of positions, at most the number of items.
    """
    if depth < len(scores):
        least = np.partition(scores, len(scores) - depth)[len(scores) - depth]
        above = np.flatnonzero(scores > least)
        chosen = np.concatenate([above, np.flatnonzero(scores == least)[: depth - len(above)]])
    else:
        chosen = np.arange(len(scores))
    order: Rows = chosen[np.argsort(-scores[chosen], kind="stable")]
    return order
