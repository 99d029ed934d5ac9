"""The options that all generative systems share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from musicrs_metric.errors import UserError

from ..options import option

ProtocolName = Literal["listwise", "titles", "constrained", "pointwise"]
# What runs were started with before; still read, and shown nowhere.
RENAMED: dict[str, ProtocolName] = {"paper": "titles"}
Normalisation = Literal["mean", "sum", "pmi"]


@dataclass(frozen=True)
class GenerativeOptions:
    """Options of every generative system; one with more of them inherits from this class."""

    protocol: ProtocolName = option(  # noqa: RUF009
        "listwise", "how a ranking is asked for: listwise, titles, constrained, pointwise", aliases=RENAMED
    )
    # A sum favours short names, which says nothing of music; a mean over the tokens does not.
    normalisation: Normalisation = option(  # noqa: RUF009
        "mean",
        "pointwise: mean or sum of a candidate's log-probabilities, or pmi, the sum less that without the thread",
    )
    seconds: float | None = option(
        None, "most seconds of a thread that are heard, shared evenly by its clips; [what fits every thread, up to 300]"
    )
    answer_tokens: int | None = option(
        None, "most tokens of an answer; [as many as a whole ranking takes; titles: 512]"
    )

    def check(self) -> None:
        """Refuse options that make no sense.

        Raises:
            UserError: There is one.
        """
        if self.seconds is not None and not 0 < self.seconds < math.inf:
            raise UserError(f"--seconds {self.seconds:g}: expected a positive number")
        if self.answer_tokens is not None and self.answer_tokens < 1:
            raise UserError(f"--answer-tokens {self.answer_tokens}: expected at least 1")
        if self.normalisation != "mean" and self.protocol != "pointwise":
            raise UserError(f"--normalisation {self.normalisation}: belongs to --protocol pointwise; name that as well")
        if self.answer_tokens is not None and self.protocol in ("constrained", "pointwise"):
            raise UserError(f"--answer-tokens: in {self.protocol} the candidates settle it; leave it out")
