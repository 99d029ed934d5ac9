"""All candidates at once, numbered; the answer is a list of numbers, and there is room for all of it.

There is room for some sentences beside the numbers, too, unless the context is too short for both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from musicrs_dataset.records import Thread

from ..language_model import Listener
from ..settings import ProtocolName
from .base import Answer, Ask, Protocol
from .reading import read_all

# Beside the numbers there is room for some sentences; and budgets are few, so that threads share batches.
_BESIDE, _STEP = 128, 256
# What an answer has beside the numbers if it has nothing beside them, such as its end, and some to spare.
_SPARE = 16


class Listwise(Protocol):
    """Asks for the numbers of the candidates, best first."""

    name: ClassVar[ProtocolName] = "listwise"

    def budget(self, listener: Listener, thread: Thread) -> int:
        """The tokens of all numbers in the form that is asked for, and some for talk, up to a multiple of 256."""
        if self.options.answer_tokens is not None:
            return self.options.answer_tokens
        return -(-(self._n_tokens(listener, thread) + _BESIDE) // _STEP) * _STEP

    def least(self, listener: Listener, thread: Thread) -> int:
        """The tokens of all numbers and 16 more, without the room for talk."""
        if self.options.answer_tokens is not None:
            return self.options.answer_tokens
        return self._n_tokens(listener, thread) + _SPARE

    def rank(self, listener: Listener, asks: Sequence[Ask]) -> list[Answer]:
        """Complete the prompts and read numbers; candidates that an answer leaves out follow in random order."""
        return read_all(self, listener, asks, numbered=True, keep_unknown=False)

    def _n_tokens(self, listener: Listener, thread: Thread) -> int:
        numbers = range(1, len(self.shown(thread)) + 1)
        return listener.n_tokens(" > ".join(f"[{number}]" for number in numbers))
