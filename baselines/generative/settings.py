"""Options of all generative systems."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from musicrs_metric.errors import UserError

from ..audio_text.checkpoints import HELP
from ..options import option

ProtocolName = Literal["listwise", "titles", "constrained", "pointwise", "generate_then_match"]
# Former names of protocols. They still work, but no help shows them.
RENAMED: dict[str, ProtocolName] = {"paper": "titles"}
PROTOCOL_HELP = "protocol of the ranking: listwise, titles, constrained, pointwise, generate_then_match"
Normalisation = Literal["mean", "sum", "pmi", "contrast"]


@dataclass(frozen=True)
class GenerativeOptions:
    """Options of every generative system. A system with further options inherits from this class."""

    protocol: ProtocolName = option(  # noqa: RUF009
        "listwise", PROTOCOL_HELP, aliases=RENAMED
    )
    # A sum favours short titles, which has nothing to do with music. A mean over the tokens does not.
    normalisation: Normalisation = option(  # noqa: RUF009
        "mean",
        "pointwise: mean or sum of the log-probabilities of a candidate; pmi, the sum minus that without the thread; "
        "contrast, the sum minus that after a general request for the genre, both continuing a bare text",
    )
    seconds: float | None = option(
        None,
        "most seconds of audio per thread, shared evenly by its clips; [the most that fits every thread, up to 300]",
    )
    answer_tokens: int | None = option(
        None, "most tokens of an answer; [as many as a whole ranking takes; titles, generate_then_match: 512]"
    )
    match_weights: str | None = option(
        None, f"generate_then_match: text encoder that matches titles, {HELP}; [all-MiniLM-L6-v2]"
    )

    def check(self) -> None:
        """Refuse values out of range and options that exclude each other.

        Raises:
            UserError: An option is wrong.
        """
        if self.seconds is not None and not 0 < self.seconds < math.inf:
            raise UserError(f"--seconds {self.seconds:g}: expected a positive number")
        if self.answer_tokens is not None and self.answer_tokens < 1:
            raise UserError(f"--answer-tokens {self.answer_tokens}: expected at least 1")
        if self.normalisation != "mean" and self.protocol != "pointwise":
            raise UserError(f"--normalisation {self.normalisation}: needs --protocol pointwise; set it as well")
        if self.match_weights is not None and self.protocol != "generate_then_match":
            raise UserError("--match-weights: needs --protocol generate_then_match; set it as well")
        if self.answer_tokens is not None and self.protocol in ("constrained", "pointwise"):
            raise UserError(f"--answer-tokens: in {self.protocol} the candidates determine it; leave it out")
