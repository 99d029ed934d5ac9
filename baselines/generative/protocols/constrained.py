"""All candidates at once; only a title that is not used yet can be generated, so that every answer ranks the pool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from musicrs_dataset.records import Thread
from musicrs_metric.runs.predictions import Prediction

from ..language_model import Listener, LocalListener
from ..settings import ProtocolName
from ..trie import CandidateTrie
from .base import Answer, Ask, Protocol

_SEPARATOR = "\n"


class Constrained(Protocol):
    """Lets the model write all titles, one a line, each once."""

    name: ClassVar[ProtocolName] = "constrained"
    is_local: ClassVar[bool] = True

    def budget(self, listener: Listener, thread: Thread) -> int:
        """The tokens of all titles with their line ends."""
        assert isinstance(listener, LocalListener)  # noqa: S101 - `is_local` says so
        return sum(map(len, line_tokens(listener, self.shown(thread))))

    def rank(self, listener: LocalListener, asks: Sequence[Ask]) -> list[Answer]:
        """Generate one answer after the other."""
        return [self._rank(listener, ask) for ask in asks]

    def _rank(self, listener: LocalListener, ask: Ask) -> Answer:
        shown = self.shown(ask.thread)
        trie = CandidateTrie(line_tokens(listener, shown))
        tokens = listener.choose(ask.prompt, lambda answer: trie(answer) or [listener.end], ask.budget)
        trie(tokens)
        ranking = tuple(shown[place] for place in trie.order)
        prediction = Prediction(ask.thread.thread_id, ranking, outcome="ok", n_answered=len(ranking))
        return Answer(prediction, _SEPARATOR.join(ranking), len(tokens), {})


def line_tokens(listener: LocalListener, candidates: Sequence[str]) -> list[list[int]]:
    """The tokens of each candidate as they stand at the beginning of a line, and of the line's end.

    No sequence is the beginning of another: a line end stands at the end of each and nowhere else.
    """
    end = listener.ids(_SEPARATOR)
    found = []
    for candidate in candidates:
        title = " ".join(candidate.split()) or "-"  # a line end within would end the title
        line = listener.ids(f"{_SEPARATOR}{title}{_SEPARATOR}")
        apart = line[: len(end)] == end and len(line) > len(end)
        # Where the line ends on both sides make one token with what is between, it is a title of control tokens alone.
        found.append(line[len(end) :] if apart else [*listener.ids(title), *end])
    return found
