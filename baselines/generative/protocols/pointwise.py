"""The probability of each candidate as the answer, computed by the model. No text is generated or read.

sum   log p(candidate | prompt); favours short titles, because each token costs
mean  the sum divided by the number of tokens
pmi   log p(candidate | prompt) - log p(candidate | prompt without the query and clips of the thread); removes the
      probability that a candidate has anyway (Holtzman et al., EMNLP 2021, doi:10.18653/v1/2021.emnlp-main.564)
contrast  log p(candidate | a text with the query) - log p(candidate | the same text with a general request for the
      genre). Both are texts to continue, so that base models take them, too. Zero-shot on 99 threads of the published
      file, Gemma 3 270M reaches 27.3 % recall@20 (chance 20.8 %)
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from musicrs_dataset.records import Thread

from ...system import Task
from ..language_model import LanguageModel, LocalModel, Prompt
from ..settings import ProtocolName
from .base import Protocol, RankedAnswer, RankingRequest

CONTRAST = "A post on r/{subreddit}: {query}\nA good recommendation of music is:"
GENERAL = "Can you recommend some {genre} music?"


class Pointwise(Protocol):
    """Scores every candidate as a continuation of one prompt."""

    name: ClassVar[ProtocolName] = "pointwise"
    is_local: ClassVar[bool] = True
    is_scored: ClassVar[bool] = True

    @property
    def is_bare(self) -> bool:
        """Return whether the prompt is a text to continue."""
        return self.options.normalisation == "contrast"

    @property
    def prompt_hash(self) -> str:
        """Return the sha256 of the prompt."""
        return hashlib.sha256((CONTRAST + GENERAL).encode()).hexdigest() if self.is_bare else super().prompt_hash

    def render(self, query: str | None, thread: Thread, n_clips: int) -> str:
        """Return the text of the prompt with another query, or with none."""
        if not self.is_bare:
            return super().render(query, thread, n_clips)
        # What is filled in is not searched again: a query may hold braces.
        before, after = CONTRAST.replace("{subreddit}", thread.subreddit, 1).split("{query}")
        return before + (GENERAL.replace("{genre}", thread.genre) if query is None else query) + after

    def budget(self, language_model: LanguageModel, thread: Thread) -> int:
        """Return the tokens of the longest candidate."""
        assert isinstance(language_model, LocalModel)  # noqa: S101 - `is_local` says so
        return max(map(len, self._continuations(language_model, self.shown(thread))))

    def rank(self, language_model: LocalModel, requests: Sequence[RankingRequest]) -> list[RankedAnswer]:
        """Score the pools one by one. Ties keep the order of the pool."""
        return [self._rank(language_model, request) for request in requests]

    def _rank(self, language_model: LocalModel, request: RankingRequest) -> RankedAnswer:
        shown = self.shown(request.thread)
        continuations = self._continuations(language_model, shown)
        logprobs = language_model.score(request.prompt, continuations)
        if self.options.normalisation in ("pmi", "contrast"):
            prompt = Prompt(self.render(None, request.thread, 0), is_bare=self.is_bare)
            prior = language_model.score(prompt, continuations)
            scores = [own.total - bare.total for own, bare in zip(logprobs, prior, strict=True)]
        elif self.options.normalisation == "mean":
            scores = [logprob.total / logprob.n_tokens for logprob in logprobs]
        else:
            scores = [logprob.total for logprob in logprobs]
        task = Task(replace(request.thread, candidates=shown))
        prediction = replace(task.by_score(scores), outcome="ok", n_answered=len(shown))
        return RankedAnswer(prediction, None, sum(logprob.n_tokens for logprob in logprobs), {})

    def _continuations(self, language_model: LocalModel, candidates: Sequence[str]) -> list[list[int]]:
        """Return the tokens of each candidate; a hyphen for an empty title or one of control tokens only."""
        space = " " if self.is_bare else ""  # between the text and its continuation
        # A title of control tokens only leaves the space, or nothing.
        empty = language_model.ids(space)
        tokens = [language_model.ids(space + candidate) for candidate in candidates]
        return [ids if ids != empty and ids else language_model.ids(f"{space}-") for ids in tokens]
