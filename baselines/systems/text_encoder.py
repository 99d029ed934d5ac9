"""Text encoder: likeness of candidates and query under any encoder, less a likeness that says nothing about the query.

Query and candidate are vectors of length 1. The score is their dot product, less that of the candidate and a vector g:

    --subtract nothing    g = 0: the cosine
    --subtract request    g = the vector of a request that asks for nothing special (`--request`)
    --subtract subreddit  g = the mean vector of all queries of the thread's subreddit, its own included
    --subtract all        g = the mean vector of all queries

The subtraction takes from each candidate its likeness to any query. It changes the query only: a mean subtracted from
the candidates would add one constant to a whole pool, and change no rank. The means are not normalised, and read the
queries of other threads, never their pools. On the published file, recall@20 / ndcg@20 / mrr in %:

                          all-MiniLM-L6-v2         all-mpnet-base-v2
    nothing               24.94 / 19.81 / 32.38    25.72 / 21.27 / 34.19
    request               29.76 / 24.12 / 37.95    30.77 / 25.68 / 40.62
    subreddit             30.72 / 25.50 / 39.82    32.11 / 27.55 / 45.46
    all                   27.88 / 22.99 / 37.12    30.16 / 24.78 / 39.14

A subreddit with a single thread has no other query, and its own would leave nothing: its mean is that of all queries.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from musicrs_dataset.records import Thread
from musicrs_metric.errors import UserError, count
from musicrs_metric.runs.predictions import Prediction
from musicrs_metric.runs.run_card import Reads

from ..data import query_of
from ..embedding.encoder_system import EncoderOptions, EncoderSystem, filled_in
from ..embedding.similarity import rank_by_similarity
from ..options import option
from ..system import Context, Declaration, Task

Subtract = Literal["nothing", "request", "subreddit", "all"]
REQUEST = "Can you recommend some music from r/{subreddit}?"


@dataclass(frozen=True)
class TextEncoderOptions(EncoderOptions):
    """Options of `text_encoder`."""

    query_prefix: str | None = option(
        None, "text before each query and the request, with {genre} and {subreddit}; [none]"
    )
    instruction: str | None = option(None, "short for the query prefix 'Instruct: TEXT', a line break, 'Query: '")
    subtract: Subtract | None = option(  # noqa: RUF009
        None, "what to subtract from the query: nothing, request, subreddit (mean query) or all; [subreddit]"
    )
    request: str | None = option(None, f"the request, with {{genre}} and {{subreddit}}; [{REQUEST}]")

    def check(self) -> None:
        """Refuse options that exclude each other.

        Raises:
            UserError: An option is wrong.
        """
        if self.instruction is not None and self.query_prefix is not None:
            raise UserError("--instruction, --query-prefix: one sets the other; leave one out")
        if self.request is not None and self.subtract != "request":
            raise UserError("--request: needs --subtract request; set it as well")


class TextEncoder(EncoderSystem):
    """Ranks by the likeness of query and candidate, less a subtraction."""

    declaration = Declaration(
        name="text_encoder",
        paradigm="retrieval",
        modalities=("query_only",),
        reads="pools",
        description="Likeness of query and candidate under any text encoder, less that of a mean query or request.",
        note="--subtract nothing and --subtract request read no other thread.",
        needs=("torch", "transformers", "accelerate"),
        open_weights=True,
    )
    Options: ClassVar[type[Any]] = TextEncoderOptions
    subtract: ClassVar[Subtract] = "subreddit"

    def __init__(self, options: Any, context: Context) -> None:
        options.check()
        super().__init__(options, context)
        self._subtract: Subtract = options.subtract or self.subtract
        self._prefix = options.query_prefix or ""
        if options.instruction is not None:
            self._prefix = f"Instruct: {options.instruction}\nQuery: "
        self._means: dict[str, npt.NDArray[np.float64]] = {}
        self._warnings: list[str] = []
        self._request = REQUEST if options.request is None else options.request

    @property
    def reads(self) -> Reads:
        """Data of other threads: their queries, for a mean."""
        return "pools" if self._subtract in ("subreddit", "all") else "thread"

    def describe_run(self, thread: Thread, batch_size: int) -> list[str]:  # noqa: ARG002
        """Return the texts of the first thread as the model gets them."""
        encoder = self._encoder
        lines = [f"subtracts {self._subtract}"]
        if self.options.base_url is None:
            lines += [f"{encoder.pooling} pooling, texts of up to {encoder.max_tokens} tokens"]
        lines += [f"query of {thread.thread_id}: {self._query(thread)}"]
        lines += [f"request: {self._generic(thread)}"] if self._subtract == "request" else []
        return [*lines, *(f"candidate: {text}" for text in self._names(thread)[:1]), *self._hints()]

    def prepare(self, threads: Sequence[Thread]) -> None:
        """Compute the mean queries.

        Raises:
            UserError: All threads have the same query, so that nothing would be left of it.
        """
        self._warnings = self._hints()
        if self.reads == "thread":
            return
        queries = [self._query(thread) for thread in threads]
        vectors = self._embed(queries)
        if len(set(queries)) < 2:
            raise UserError("--subtract: all threads have one query, so nothing is left of it; use --subtract request")
        self._means[""] = vectors.mean(axis=0, dtype=np.float64)
        if self._subtract == "subreddit":
            self._add_means(threads, queries, vectors)
        self._embed.save()

    def _add_means(self, threads: Sequence[Thread], queries: list[str], vectors: npt.NDArray[np.float32]) -> None:
        rows = defaultdict(list)
        for row, thread in enumerate(threads):
            rows[thread.subreddit].append(row)
        alone = [name for name, own in rows.items() if len({queries[row] for row in own}) < 2]
        if alone:
            n = count(len(alone), "subreddit")
            self._warnings.append(f"{n} with a single query: the mean of all queries is subtracted, as in r/{alone[0]}")
        self._means |= {
            name: vectors[own].mean(axis=0, dtype=np.float64) for name, own in rows.items() if name not in alone
        }

    def rank(self, batch: Sequence[Task]) -> list[Prediction]:
        """Embed the texts of the batch together, and rank by dot product."""
        threads = [task.thread for task in batch]
        queries = self._embed([self._query(thread) for thread in threads]).astype(np.float64)
        if self._subtract == "request":
            queries -= self._embed([self._generic(thread) for thread in threads])
        elif self._subtract != "nothing":
            queries -= np.stack([self._means.get(thread.subreddit, self._means[""]) for thread in threads])
        names = [self._names(thread) for thread in threads]
        texts = list(dict.fromkeys(text for of_thread in names for text in of_thread))
        vectors = dict(zip(texts, self._embed(texts), strict=True))
        return [
            rank_by_similarity(task, query, vectors, of_thread)
            for task, query, of_thread in zip(batch, queries, names, strict=True)
        ]

    def warnings(self) -> list[str]:
        """Return the warnings of `prepare`, once."""
        warnings, self._warnings = self._warnings, []
        return warnings

    def _query(self, thread: Thread) -> str:
        return filled_in(self._prefix, thread) + query_of(thread)

    def _generic(self, thread: Thread) -> str:
        return filled_in(self._prefix + self._request, thread)

    def _hints(self) -> list[str]:
        if self._prefix or self.options.name_prefix or not self._encoder.prompts:
            return []
        named = ", ".join(f"{name} {text!r}" for name, text in self._encoder.prompts.items())
        return [f"the model's files name prefixes, and this run uses none: {named}; see --query-prefix, --name-prefix"]
