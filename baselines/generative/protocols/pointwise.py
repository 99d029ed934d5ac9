"""How likely each candidate is as the answer, by the model's own probabilities; nothing is generated and nothing read.

sum   log p(candidate | prompt); favours short names, as each token costs
mean  the same over the number of its tokens
pmi   log p(candidate | prompt) - log p(candidate | prompt without the thread's query and clips); what the thread adds
      to what the model holds likely anyway (Holtzman et al., EMNLP 2021, doi:10.18653/v1/2021.emnlp-main.564)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from musicrs_dataset.records import Thread

from ...system import Task
from ..language_model import LanguageModel, LocalModel, Prompt
from ..settings import ProtocolName
from .base import Protocol, RankedAnswer, RankingRequest


class Pointwise(Protocol):
    """Scores every candidate as a continuation of one prompt."""

    name: ClassVar[ProtocolName] = "pointwise"
    is_local: ClassVar[bool] = True
    is_scored: ClassVar[bool] = True

    def budget(self, language_model: LanguageModel, thread: Thread) -> int:
        """The tokens of the longest candidate."""
        assert isinstance(language_model, LocalModel)  # noqa: S101 - `is_local` says so
        return max(map(len, _continuations(language_model, self.shown(thread))))

    def rank(self, language_model: LocalModel, asks: Sequence[RankingRequest]) -> list[RankedAnswer]:
        """Score the pools one after the other; ties go by place in the pool."""
        return [self._rank(language_model, ask) for ask in asks]

    def _rank(self, language_model: LocalModel, ask: RankingRequest) -> RankedAnswer:
        shown = self.shown(ask.thread)
        continuations = _continuations(language_model, shown)
        found = language_model.score(ask.prompt, continuations)
        if self.options.normalisation == "pmi":
            bare = language_model.score(Prompt(self.render(None, ask.thread, 0)), continuations)
            scores = [here.total - there.total for here, there in zip(found, bare, strict=True)]
        elif self.options.normalisation == "mean":
            scores = [each.total / each.n_tokens for each in found]
        else:
            scores = [each.total for each in found]
        task = Task(replace(ask.thread, candidates=shown))
        prediction = replace(task.by_score(scores), outcome="ok", n_answered=len(shown))
        return RankedAnswer(prediction, None, sum(each.n_tokens for each in found), {})


def _continuations(language_model: LocalModel, candidates: Sequence[str]) -> list[list[int]]:
    """The tokens of each candidate; a name that is all control tokens, or nothing, is a hyphen."""
    return [language_model.ids(candidate) or language_model.ids("-") for candidate in candidates]
