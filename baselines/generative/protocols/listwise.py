"""All candidates at once, numbered; the answer is a list of numbers, and there is room for all of it.

There is room for some sentences beside the numbers, too, unless the context is too short for both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from musicrs_dataset.records import Thread

from ..language_model import LanguageModel
from ..settings import ProtocolName
from .base import Protocol, RankedAnswer, RankingRequest
from .reading import read_all

# Beside the numbers there is room for some sentences; and budgets are few, so that threads share batches.
_BESIDE, _STEP = 128, 256
# What an answer has beside the numbers if it has nothing beside them, such as its end, and some to spare.
_SPARE = 16


class Listwise(Protocol):
    """Asks for the numbers of the candidates, best first."""

    name: ClassVar[ProtocolName] = "listwise"

    def budget(self, language_model: LanguageModel, thread: Thread) -> int:
        """The tokens of all numbers in the form that is asked for, and some for talk, up to a multiple of 256."""
        if self.options.answer_tokens is not None:
            return self.options.answer_tokens
        return -(-(self._n_tokens(language_model, thread) + _BESIDE) // _STEP) * _STEP

    def min_budget(self, language_model: LanguageModel, thread: Thread) -> int:
        """The tokens of all numbers and 16 more, without the room for talk."""
        if self.options.answer_tokens is not None:
            return self.options.answer_tokens
        return self._n_tokens(language_model, thread) + _SPARE

    def rank(self, language_model: LanguageModel, asks: Sequence[RankingRequest]) -> list[RankedAnswer]:
        """Complete the prompts and read numbers; candidates that an answer leaves out follow in random order."""
        return read_all(self, language_model, asks, numbered=True, keep_unknown=False)

    def _n_tokens(self, language_model: LanguageModel, thread: Thread) -> int:
        numbers = range(1, len(self.shown(thread)) + 1)
        return language_model.n_tokens(" > ".join(f"[{number}]" for number in numbers))
