"""As the MusiCRS paper asked: all candidates at once, shuffled, and titles between commas for an answer.

512 new tokens, which a full answer of 100 titles exceeds, and titles that were invented keep their place as misses.
Where the models that cannot do without sound got silence in query_only, they get it here.

Source: the published prompts and code of the MusiCRS paper (arXiv 2509.19469).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from musicrs_dataset.records import Thread

from musicrs_metric.base.seeds import shuffled
from ..listener import Listener
from ..settings import ProtocolName
from .base import Answer, Ask, Protocol
from .reading import read_all

_NEW_TOKENS = 512


class Paper(Protocol):
    """Asks for titles as the paper did."""

    name: ClassVar[ProtocolName] = "paper"
    silence: ClassVar[bool] = True

    def shown(self, thread: Thread) -> tuple[str, ...]:
        """The candidates in a random order of the thread's own."""
        return tuple(shuffled(super().shown(thread), self.seed, thread.thread_id, "paper"))

    def budget(self, listener: Listener, thread: Thread) -> int:  # noqa: ARG002
        """As published."""
        return self.options.answer_tokens or _NEW_TOKENS

    def rank(self, listener: Listener, asks: Sequence[Ask]) -> list[Answer]:
        """Complete the prompts and read titles."""
        return read_all(self, listener, asks, numbered=False, keep_unknown=True)
