"""Reranker: a model that reads query and candidate together scores each pair.

`--weights` takes cross-encoders with a sequence classification head, such as BAAI/bge-reranker-v2-m3, and
Qwen3-Rerankers; `baselines.embedding.pair_scorer` has the prompt and the score. A reranker reads about 100 pairs per
thread, so it costs about a hundred times as much as an encoder of its size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from musicrs_dataset.records import Thread
from musicrs_metric.errors import UserError
from musicrs_metric.runs.predictions import Prediction

from ..audio_text.checkpoints import HELP
from ..data import query_of
from ..embedding.encoder_system import check_fields, filled_in
from ..embedding.endpoints import ServerOptions, ServerScorer
from ..embedding.pair_scorer import INSTRUCTION, PairScorer
from ..options import option
from ..system import Context, Declaration, RunFacts, System, Task


@dataclass(frozen=True)
class RerankerOptions(ServerOptions):
    """Options of `reranker`."""

    weights: str | None = option(None, f"{HELP}; required, unless --base-url names a server")
    instruction: str | None = option(None, f"task of a Qwen3-Reranker; [{INSTRUCTION}]")
    query_prefix: str | None = option(None, "text before each query, with {genre} and {subreddit}; [none]")
    name_prefix: str | None = option(None, "text before each candidate, with {genre} and {subreddit}; [none]")
    api: Literal["cohere", "tei"] = option(
        "cohere", "form of the server's /rerank: cohere (also vLLM), or tei (text-embeddings-inference)"
    )
    max_tokens: int | None = option(None, "most tokens of a pair; [the model's own, at most 512; Qwen3-Reranker: 8192]")


class Reranker(System):
    """Ranks by the score of each pair of query and candidate."""

    declaration = Declaration(
        name="reranker",
        paradigm="retrieval",
        modalities=("query_only",),
        reads="thread",
        description="Score of each pair of query and candidate under a cross-encoder or a Qwen3-Reranker.",
        needs=("torch", "transformers", "accelerate"),
        open_weights=True,
        batch_size=4,
    )
    Options: ClassVar[type[Any]] = RerankerOptions

    def __init__(self, options: RerankerOptions, context: Context) -> None:
        super().__init__(options, context)
        check_fields({"query_prefix": options.query_prefix, "name_prefix": options.name_prefix})
        self.failures_are_temporary = options.base_url is not None
        check_fields({"instruction": options.instruction}, known=())
        self._scorer: PairScorer | ServerScorer
        if options.base_url is not None or options.model_name is not None:
            server = options.server(("weights", "instruction", "max_tokens"))
            self._scorer = ServerScorer(server, options.api)
            self.declaration = replace(self.declaration, model_id=server.model, open_weights=None)
            return
        if not options.weights:
            raise UserError(f"--weights: missing; expected {HELP}, such as BAAI/bge-reranker-v2-m3")
        self._scorer = PairScorer(options.weights, options.instruction, options.max_tokens, context)
        self.declaration = self.declaration.for_weights(options.weights)

    def run_facts(self) -> RunFacts:
        """Return the revision of the weights and the limit of a pair."""
        return RunFacts(model_revision=self._scorer.revision, extra={"max_tokens": self._scorer.max_tokens})

    def cost(self, thread: Thread) -> float:
        """Return the characters that the model reads."""
        return len(thread.candidates) * len(thread.query or "")

    def rank(self, batch: Sequence[Task]) -> list[Prediction]:
        """Score the pairs of each thread on their own: a head of few columns rounds by the rows of its batch."""
        return [task.by_score(self._scorer.score(self._pairs(task.thread))) for task in batch]

    def _pairs(self, thread: Thread) -> list[tuple[str, str]]:
        query = filled_in(self.options.query_prefix or "", thread) + query_of(thread)
        prefix = filled_in(self.options.name_prefix or "", thread)
        return [(query, prefix + name) for name in thread.candidates]
