"""What a protocol is: the words of a prompt, the length of its answer, and the way from answers to rankings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from musicrs_dataset.records import Thread
from musicrs_metric.answers import prompts
from musicrs_metric.runs.predictions import Prediction
from musicrs_metric.runs.run_card import Modality

from ...texts import query_of
from ..language_model import LanguageModel, Prompt
from ..settings import GenerativeOptions, ProtocolName


class RankingRequest(NamedTuple):
    """A thread to be ranked.

    Attributes:
        thread: The thread.
        prompt: What the model is given.
        budget: Most tokens of the answer.
    """

    thread: Thread
    prompt: Prompt
    budget: int


class RankedAnswer(NamedTuple):
    """A thread that was ranked.

    Attributes:
        prediction: The ranking.
        text: What the model wrote; None where it wrote nothing but was asked for probabilities.
        n_tokens: Tokens generated, or scored.
        ledger: The account of the reading; empty where nothing had to be read.
        details: What else is kept of the answer; None where there is nothing.
    """

    prediction: Prediction
    text: str | None
    n_tokens: int
    ledger: dict[str, int]
    details: dict[str, Any] | None = None

    def record(self) -> dict[str, Any]:
        """What is kept of it beside the prediction."""
        kept = {"thread_id": self.prediction.thread_id, "answer": self.text, "n_tokens": self.n_tokens}
        return kept | (self.details or {}) | {"ledger": self.ledger}


@dataclass(frozen=True)
class Protocol(ABC):
    """One way to ask for rankings.

    Attributes:
        options: The options of the system.
        modality: What of a thread the model is given.
        seed: Seed of the run.
        name: What `--protocol` calls it; its prompt has the same name.
        is_scored: Whether continuations are scored.
        is_local: Whether it takes a model in this process (`LocalListener`).
        silence: Whether a model that was published with silence in place of missing clips gets it.
    """

    options: GenerativeOptions
    modality: Modality
    seed: int

    name: ClassVar[ProtocolName]
    is_local: ClassVar[bool] = False
    is_scored: ClassVar[bool] = False
    silence: ClassVar[bool] = False

    @property
    def differences(self) -> tuple[str, ...]:
        """What the published runs of the MusiCRS paper did in another way; empty where a protocol follows none."""
        return ()

    @property
    def prompt_hash(self) -> str:
        """sha256 of the prompt."""
        return prompts.load(self.name).sha256

    def shown(self, thread: Thread) -> tuple[str, ...]:
        """The distinct candidates in the order in which the model sees them."""
        return tuple(dict.fromkeys(thread.candidates))

    def words(self, thread: Thread, n_clips: int) -> str:
        """The prompt in words.

        Args:
            thread: The thread.
            n_clips: Number of its clips that the model is given, however they are cut or joined for it.
        """
        query = None if self.modality == "audio_only" else query_of(thread)
        return self.render(query, thread, n_clips)

    def render(self, query: str | None, thread: Thread, n_clips: int) -> str:
        """The prompt in words with another query, or none."""
        return prompts.load(self.name).render(query=query, candidates=self.shown(thread), n_clips=n_clips)

    @abstractmethod
    def budget(self, language_model: LanguageModel, thread: Thread) -> int:
        """Most tokens of the answer to a thread."""

    def min_budget(self, language_model: LanguageModel, thread: Thread) -> int:
        """To how many of them the context may cut the budget: what a whole ranking takes, and nothing beside it."""
        return self.budget(language_model, thread)

    @abstractmethod
    def rank(self, language_model: Any, asks: Sequence[RankingRequest]) -> list[RankedAnswer]:
        """Ask the model, and read what it answers.

        Args:
            language_model: The model, loaded; a `LocalListener` where the protocol takes one.
            asks: At least one.

        Returns:
            One answer per ask, in order.
        """
