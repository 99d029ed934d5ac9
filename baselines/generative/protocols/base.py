"""The contract of a protocol: the text of a prompt, the length of its answer, and the way from answers to rankings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from musicrs_dataset.records import Thread
from musicrs_metric.answers import prompts
from musicrs_metric.runs.predictions import Prediction
from musicrs_metric.runs.run_card import Modality

from ...data import query_of
from ...system import Context
from ..language_model import LanguageModel, Prompt
from ..settings import GenerativeOptions, ProtocolName


class RankingRequest(NamedTuple):
    """A request to rank a thread.

    Attributes:
        thread: The thread.
        prompt: The prompt.
        budget: Most tokens of the answer.
    """

    thread: Thread
    prompt: Prompt
    budget: int


class RankedAnswer(NamedTuple):
    """The answer to a request, as a ranking.

    Attributes:
        prediction: The ranking.
        text: The text that the model wrote; None if it scored candidates.
        n_tokens: Tokens generated or scored.
        ledger: Counts of the reading; empty if there was nothing to read.
        details: Further fields of the answer record; None if there are none.
    """

    prediction: Prediction
    text: str | None
    n_tokens: int
    ledger: dict[str, int]
    details: dict[str, Any] | None = None

    def record(self) -> dict[str, Any]:
        """Return the line of `answers.jsonl`."""
        fields = {"thread_id": self.prediction.thread_id, "answer": self.text, "n_tokens": self.n_tokens}
        return fields | (self.details or {}) | {"ledger": self.ledger}


@dataclass(frozen=True)
class Protocol(ABC):
    """A way to ask for rankings.

    Attributes:
        options: Options of the system.
        modality: Data of a thread that the model gets.
        seed: Seed of the run.
        context: Context of the system, with device and cache.
        name: Name in `--protocol`, and name of its prompt.
        is_scored: Whether continuations are scored.
        is_local: Whether it needs a model in this process (`LocalModel`).
        silence: Whether a model that was published with silence in place of missing clips gets silence.
    """

    options: GenerativeOptions
    modality: Modality
    seed: int
    context: Context

    name: ClassVar[ProtocolName]
    is_local: ClassVar[bool] = False
    is_scored: ClassVar[bool] = False
    silence: ClassVar[bool] = False

    @property
    def differences(self) -> tuple[str, ...]:
        """Differences from the published runs of the MusiCRS paper; empty for a protocol that does not follow them."""
        return ()

    @property
    def is_bare(self) -> bool:
        """Return whether a model continues the text of the prompt itself, instead of an answer to it."""
        return False

    @property
    def prompt_hash(self) -> str:
        """Return the sha256 of the prompt."""
        return prompts.load(self.name).sha256

    @property
    def weights(self) -> str:
        """Return the revision of further weights that the protocol uses; empty for none."""
        return ""

    def close(self) -> None:  # noqa: B027 - most protocols have nothing to save
        """Save data that outlives the run, such as caches."""

    def shown(self, thread: Thread) -> tuple[str, ...]:
        """Return the distinct candidates in the order of the prompt."""
        return tuple(dict.fromkeys(thread.candidates))

    def prompt_text(self, thread: Thread, n_clips: int) -> str:
        """Return the text of the prompt.

        Args:
            thread: The thread.
            n_clips: Number of its clips that the model gets, before they are split or joined.
        """
        query = None if self.modality == "audio_only" else query_of(thread)
        return self.render(query, thread, n_clips)

    def render(self, query: str | None, thread: Thread, n_clips: int) -> str:
        """Return the text of the prompt with another query, or with none."""
        return prompts.load(self.name).render(query=query, candidates=self.shown(thread), n_clips=n_clips)

    @abstractmethod
    def budget(self, language_model: LanguageModel, thread: Thread) -> int:
        """Return the most tokens of the answer to a thread."""

    def min_budget(self, language_model: LanguageModel, thread: Thread) -> int:
        """Return the tokens of a bare ranking. A short context may cut the budget to this number."""
        return self.budget(language_model, thread)

    @abstractmethod
    def rank(self, language_model: Any, requests: Sequence[RankingRequest]) -> list[RankedAnswer]:
        """Ask the model and read its answers.

        Args:
            language_model: The model, loaded; a `LocalModel` if `is_local`.
            requests: At least one.

        Returns:
            One answer per request, in order.
        """
