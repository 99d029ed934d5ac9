"""All candidates at once, numbered; the answer is a list of numbers.

The budget holds all numbers and some sentences, unless the context is too short for both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from musicrs_dataset.records import Thread
from musicrs_metric.answers.list_protocol import LISTWISE

from ..language_model import LanguageModel
from ..settings import ProtocolName
from .base import Protocol, RankedAnswer, RankingRequest
from .reading import read_all

# Room for some sentences. Budgets are multiples of the step, so that threads share batches.
_SENTENCES, _STEP = 128, 256
# Room for the end of an answer of numbers only, with some to spare.
_SPARE = 16


class Listwise(Protocol):
    """Asks for the numbers of the candidates, best first."""

    name: ClassVar[ProtocolName] = "listwise"

    def budget(self, language_model: LanguageModel, thread: Thread) -> int:
        """Return the tokens of all numbers and of some sentences, rounded up to a multiple of 256."""
        if self.options.answer_tokens is not None:
            return self.options.answer_tokens
        return -(-(self._n_tokens(language_model, thread) + _SENTENCES) // _STEP) * _STEP

    def min_budget(self, language_model: LanguageModel, thread: Thread) -> int:
        """Return the tokens of all numbers and 16 more, without room for sentences."""
        if self.options.answer_tokens is not None:
            return self.options.answer_tokens
        return self._n_tokens(language_model, thread) + _SPARE

    def rank(self, language_model: LanguageModel, requests: Sequence[RankingRequest]) -> list[RankedAnswer]:
        """Complete the prompts and read numbers. Missing candidates follow in random order."""
        return read_all(self, language_model, requests, LISTWISE)

    def _n_tokens(self, language_model: LanguageModel, thread: Thread) -> int:
        numbers = range(1, len(self.shown(thread)) + 1)
        return language_model.n_tokens(" > ".join(f"[{number}]" for number in numbers))
