"""The probability of each candidate as the answer, computed by the model. No text is generated or read.

sum   log p(candidate | prompt); favours short titles, because each token costs
mean  the sum divided by the number of tokens
pmi   log p(candidate | prompt) - log p(candidate | prompt without the query and clips of the thread); removes the
      probability that a candidate has anyway (Holtzman et al., EMNLP 2021, doi:10.18653/v1/2021.emnlp-main.564)
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
        """Return the tokens of the longest candidate."""
        assert isinstance(language_model, LocalModel)  # noqa: S101 - `is_local` says so
        return max(map(len, _continuations(language_model, self.shown(thread))))

    def rank(self, language_model: LocalModel, requests: Sequence[RankingRequest]) -> list[RankedAnswer]:
        """Score the pools one by one. Ties keep the order of the pool."""
        return [self._rank(language_model, request) for request in requests]

    def _rank(self, language_model: LocalModel, request: RankingRequest) -> RankedAnswer:
        shown = self.shown(request.thread)
        continuations = _continuations(language_model, shown)
        logprobs = language_model.score(request.prompt, continuations)
        if self.options.normalisation == "pmi":
            prior = language_model.score(Prompt(self.render(None, request.thread, 0)), continuations)
            scores = [own.total - bare.total for own, bare in zip(logprobs, prior, strict=True)]
        elif self.options.normalisation == "mean":
            scores = [logprob.total / logprob.n_tokens for logprob in logprobs]
        else:
            scores = [logprob.total for logprob in logprobs]
        task = Task(replace(request.thread, candidates=shown))
        prediction = replace(task.by_score(scores), outcome="ok", n_answered=len(shown))
        return RankedAnswer(prediction, None, sum(logprob.n_tokens for logprob in logprobs), {})


def _continuations(language_model: LocalModel, candidates: Sequence[str]) -> list[list[int]]:
    """Return the tokens of each candidate; a hyphen for an empty title or one of control tokens only."""
    return [language_model.ids(candidate) or language_model.ids("-") for candidate in candidates]
