"""Protocol `constrained`: the model writes all titles, and can only write unused ones.

So every answer ranks the whole pool.
"""

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
    """Lets the model write all titles, one per line, each once."""

    name: ClassVar[ProtocolName] = "constrained"
    is_local: ClassVar[bool] = True

    def budget(self, language_model: LanguageModel, thread: Thread) -> int:
        """Return the tokens of all titles with their line ends."""
        assert isinstance(language_model, LocalModel)  # noqa: S101 - `is_local` says so
        return sum(map(len, line_tokens(language_model, self.shown(thread))))

    def rank(self, language_model: LocalModel, requests: Sequence[RankingRequest]) -> list[RankedAnswer]:
        """Generate the answers one by one."""
        return [self._rank(language_model, request) for request in requests]

    def _rank(self, language_model: LocalModel, request: RankingRequest) -> RankedAnswer:
        shown = self.shown(request.thread)
        trie = CandidateTrie(line_tokens(language_model, shown))
        tokens = language_model.choose(
            request.prompt, lambda answer: trie(answer) or [language_model.end], request.budget
        )
        trie(tokens)
        ranking = tuple(shown[index] for index in trie.order)
        prediction = Prediction(request.thread.thread_id, ranking, outcome="ok", n_answered=len(ranking))
        return RankedAnswer(prediction, _SEPARATOR.join(ranking), len(tokens), {})


def line_tokens(language_model: LocalModel, candidates: Sequence[str]) -> list[list[int]]:
    """Return the tokens of each candidate at the start of a line, with the line end.

    No sequence is the beginning of another: each has a line end at its end and nowhere else.
    """
    end = language_model.ids(_SEPARATOR)
    sequences = []
    for candidate in candidates:
        title = " ".join(candidate.split()) or "-"  # a line end inside would end the title
        line = language_model.ids(f"{_SEPARATOR}{title}{_SEPARATOR}")
        is_separate = line[: len(end)] == end and len(line) > len(end)
        # Only a title of nothing but control tokens merges with the line ends on both sides.
        sequences.append(line[len(end) :] if is_separate else [*language_model.ids(title), *end])
    return sequences
