"""All candidates at once, numbered; the answer is a list of numbers, and there is room for all of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from musicrs_dataset.records import Thread

from ..listener import Listener
from ..settings import ProtocolName
from .base import Answer, Ask, Protocol
from .reading import read_all

# Beside the numbers there is room for some sentences; and budgets are few, so that threads share batches.
_BESIDE, _STEP = 128, 256


class Listwise(Protocol):
    """Asks for the numbers of the candidates, best first."""

    name: ClassVar[ProtocolName] = "listwise"

    def budget(self, listener: Listener, thread: Thread) -> int:
        """The tokens of all numbers in the form that is asked for, and some for talk, up to a multiple of 256."""
        if self.options.answer_tokens is not None:
            return self.options.answer_tokens
        numbers = " > ".join(f"[{number}]" for number in range(1, len(self.shown(thread)) + 1))
        return -(-(listener.n_tokens(numbers) + _BESIDE) // _STEP) * _STEP

    def rank(self, listener: Listener, asks: Sequence[Ask]) -> list[Answer]:
        """Complete the prompts and read numbers; candidates that an answer leaves out follow in random order."""
        return read_all(self, listener, asks, numbered=True, keep_unknown=False)
