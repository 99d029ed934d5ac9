"""All candidates at once, shuffled; the answer is a list of titles between commas: the idea of the published runs.

The answer has at most 512 tokens, which a full list of 100 titles exceeds. Unknown titles keep their rank as misses.
Models that need audio and got silence in query_only get it here, too. `differences` lists what the published runs did
in another way. A model adds its own (`LanguageModel.differences`), and the run card holds all of them.

Until November 2026 this protocol was called `paper`. `--protocol paper` and run folders of that name still work.

Source: the published prompts and code of the MusiCRS paper (arXiv 2509.19469).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from musicrs_dataset.records import Thread
from musicrs_metric.answers.list_protocol import TITLES

from ..language_model import LanguageModel
from ..settings import ProtocolName
from .base import Protocol, RankedAnswer, RankingRequest
from .reading import read_all

_PROMPT = (
    "prompt: one user turn in this project's words; the published runs used the authors' words, those of the Qwen "
    "models a system prompt and three user turns"
)
_CLIPS = (
    "clips: those of the dataset, each from its start; the published runs took up to ten random files per thread, "
    "each from a random offset"
)
_ANSWERS = (
    "answers: read by the rules of musicrs_metric.answers, and a repeated title counts once; the published runs split "
    "them at commas and counted repeats each time (`python -m baselines reread RUN --rule published`)"
)


class Titles(Protocol):
    """Asks for titles between commas."""

    name: ClassVar[ProtocolName] = "titles"
    silence: ClassVar[bool] = True

    @property
    def differences(self) -> tuple[str, ...]:
        """Prompt, clips, and reading."""
        return (_PROMPT, _ANSWERS) if self.modality == "query_only" else (_PROMPT, _CLIPS, _ANSWERS)

    def shown(self, thread: Thread) -> tuple[str, ...]:
        """Return the candidates in a seeded random order per thread."""
        return TITLES.shown(thread.candidates, self.seed, thread.thread_id)

    def budget(self, language_model: LanguageModel, thread: Thread) -> int:  # noqa: ARG002
        """Return the budget of the published runs, or that of the user."""
        return self.options.answer_tokens or TITLES.max_tokens or 0

    def rank(self, language_model: LanguageModel, requests: Sequence[RankingRequest]) -> list[RankedAnswer]:
        """Complete the prompts and read titles."""
        return read_all(self, language_model, requests, TITLES)
