"""All candidates at once; only a title that is not used yet can be generated, so that every answer ranks the pool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from musicrs_dataset.records import Thread
from musicrs_metric.runs.predictions import Prediction

from ..language_model import LanguageModel, LocalModel
from ..settings import ProtocolName
from ..trie import CandidateTrie
from .base import Protocol, RankedAnswer, RankingRequest

_SEPARATOR = "\n"


class Constrained(Protocol):
    """Lets the model write all titles, one a line, each once."""

    name: ClassVar[ProtocolName] = "constrained"
    is_local: ClassVar[bool] = True

    def budget(self, language_model: LanguageModel, thread: Thread) -> int:
        """The tokens of all titles with their line ends."""
        assert isinstance(language_model, LocalModel)  # noqa: S101 - `is_local` says so
        return sum(map(len, line_tokens(language_model, self.shown(thread))))

    def rank(self, language_model: LocalModel, asks: Sequence[RankingRequest]) -> list[RankedAnswer]:
        """Generate one answer after the other."""
        return [self._rank(language_model, ask) for ask in asks]

    def _rank(self, language_model: LocalModel, ask: RankingRequest) -> RankedAnswer:
        shown = self.shown(ask.thread)
        trie = CandidateTrie(line_tokens(language_model, shown))
        tokens = language_model.choose(ask.prompt, lambda answer: trie(answer) or [language_model.end], ask.budget)
        trie(tokens)
        ranking = tuple(shown[place] for place in trie.order)
        prediction = Prediction(ask.thread.thread_id, ranking, outcome="ok", n_answered=len(ranking))
        return RankedAnswer(prediction, _SEPARATOR.join(ranking), len(tokens), {})


def line_tokens(language_model: LocalModel, candidates: Sequence[str]) -> list[list[int]]:
    """The tokens of each candidate as they stand at the beginning of a line, and of the line's end.

    No sequence is the beginning of another: a line end stands at the end of each and nowhere else.
    """
    end = language_model.ids(_SEPARATOR)
    found = []
    for candidate in candidates:
        title = " ".join(candidate.split()) or "-"  # a line end within would end the title
        line = language_model.ids(f"{_SEPARATOR}{title}{_SEPARATOR}")
        apart = line[: len(end)] == end and len(line) > len(end)
        # Where the line ends on both sides make one token with what is between, it is a title of control tokens alone.
        found.append(line[len(end) :] if apart else [*language_model.ids(title), *end])
    return found
