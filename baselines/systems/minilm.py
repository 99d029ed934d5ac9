"""MiniLM: the text encoder all-MiniLM-L6-v2, up to 256 tokens, without a subtraction unless the user asks for one.

On the published file the cosine of query and title reaches 24.94 / 19.81 / 32.38 % (recall@20 / ndcg@20 / mrr), more
than every row of Table 1 of the paper. `--center` stands for `--subtract all`: it subtracts the mean query, and so from
each title its likeness to any query, which reaches 27.88 / 22.99 / 37.12 %. `--subtract subreddit` reaches
30.72 / 25.50 / 39.82 %; `baselines.systems.text_encoder` explains the subtractions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from musicrs_metric.errors import UserError

from ..embedding.encoder_files import Encoder, read_settings
from ..embedding.minilm_weights import HELP, MODEL_ID, find_minilm
from ..options import option
from ..system import Context, Declaration
from .text_encoder import Subtract, TextEncoder, TextEncoderOptions

MAX_TOKENS = 256


@dataclass(frozen=True)
class MiniLMOptions(TextEncoderOptions):
    """Options of `minilm`."""

    weights: str | None = option(None, HELP)
    max_tokens: int | None = option(None, f"most tokens of a text; [{MAX_TOKENS}]")
    subtract: Subtract | None = option(  # noqa: RUF009
        None, "what to subtract from the query: nothing, request, subreddit (mean query) or all; [nothing]"
    )
    center: bool = option(False, "short for --subtract all, the mean query; reads texts of other threads")

    def check(self) -> None:
        """Check as `TextEncoderOptions` does, and refuse two subtractions."""
        super().check()
        if self.center and self.subtract not in (None, "all"):
            raise UserError(f"--center, --subtract {self.subtract}: exclude each other; leave one out")


class MiniLM(TextEncoder):
    """Ranks by the likeness of query and title under MiniLM."""

    declaration = Declaration(
        name="minilm",
        paradigm="retrieval",
        modalities=("query_only",),
        reads="thread",
        description="Cosine of query and title under all-MiniLM-L6-v2; --subtract removes a mean query or a request.",
        needs=("torch", "transformers", "accelerate"),
        model_id=MODEL_ID,
        licence="Apache-2.0",
        open_weights=True,
    )
    Options = MiniLMOptions
    subtract: ClassVar[Subtract] = "nothing"

    def __init__(self, options: MiniLMOptions, context: Context) -> None:
        super().__init__(options, context)
        if options.center:
            self._subtract = "all"

    def find_encoder(self) -> Encoder:
        """Find the published weights."""
        options: MiniLMOptions = self.options
        if options.base_url is not None or options.model_name is not None:
            raise UserError("--base-url, --model-name: minilm runs in this process; use text_encoder for a server")
        max_tokens = MAX_TOKENS if options.max_tokens is None else options.max_tokens
        return read_settings(find_minilm(options.weights).encoder(max_tokens), options.pooling or "mean", max_tokens)
