"""The interface between protocols and models: complete prompts; for local models also choose and score.

A server completes prompts. A model in this process also completes under a constraint and scores continuations;
`transformers_model` does both for every model of transformers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from musicrs_dataset.audio.cutting import Samples

from .audio_limits import AudioLimits

# Maps the tokens generated so far to the tokens that may come next.
Allowed = Callable[[Sequence[int]], Sequence[int]]


class Prompt(NamedTuple):
    """The input of a model.

    Attributes:
        text: The request, without chat template and audio markers. A model adds its own, and removes its control
            tokens from the text.
        clips: Audio in prompt order, each of shape (n,), mono at the rate of the model.
        is_bare: Whether the model continues the text itself. A model that takes only text then adds no chat template.
    """

    text: str
    clips: tuple[Samples, ...] = ()
    is_bare: bool = False


class Completion(NamedTuple):
    """The answer of a model.

    Attributes:
        text: The answer without the prompt and without control tokens.
        n_tokens: Length of the answer in tokens.
        cut: Whether the budget ended the answer.
        details: Further fields for `answers.jsonl`, in plain JSON types; None if there are none.
    """

    text: str
    n_tokens: int
    cut: bool
    details: dict[str, Any] | None = None


class Logprob(NamedTuple):
    """Log-probability of a continuation.

    Attributes:
        total: Sum of the natural logarithms of the token probabilities.
        n_tokens: Number of tokens.
    """

    total: float
    n_tokens: int


class LanguageModel(ABC):
    """A language model that may take audio. The constructor loads no weights; `load` does.

    Attributes:
        limits: Limits of its audio input.
    """

    limits: AudioLimits

    @property
    @abstractmethod
    def revision(self) -> str:
        """Commit or hash of the weights, or the name of the model on the server."""

    @property
    def differences(self) -> tuple[str, ...]:
        """Differences of the published run of this model from the protocol `titles` under these options."""
        return ()

    def load(self) -> None:  # noqa: B027 - a server has nothing to load
        """Load what `complete` needs."""

    def describe_run(self, tokens: int, batch_size: int, is_scored: bool) -> list[str]:  # noqa: ARG002
        """Return lines that a user may want to read before a run, such as an estimate of memory. Load nothing.

        Args:
            tokens: Most tokens of a prompt and its answer.
            batch_size: Prompts per batch.
            is_scored: Whether the protocol scores continuations.
        """
        return []

    def findings(self) -> dict[str, Any]:
        """Return what loading showed about the model, for the run card, in plain JSON types."""
        return {}

    @abstractmethod
    def n_tokens(self, text: str) -> int:
        """Count the tokens of a text without the weights. For a server this is an estimate."""

    @abstractmethod
    def complete(self, prompts: Sequence[Prompt], budget: int) -> list[Completion]:
        """Complete prompts, without sampling.

        Args:
            prompts: At least one.
            budget: Most tokens of an answer.

        Returns:
            One completion per prompt, in order.
        """


class LocalModel(LanguageModel):
    """A model in this process, whose next token can be restricted and whose continuations can be scored."""

    @abstractmethod
    def ids(self, text: str) -> list[int]:
        """Return the token ids of a text, without special tokens and without the weights."""

    @property
    @abstractmethod
    def end(self) -> int:
        """The token that ends an answer."""

    @abstractmethod
    def choose(self, prompt: Prompt, allowed: Allowed, budget: int) -> list[int]:
        """Complete one prompt with allowed tokens only.

        Returns:
            The tokens of the answer, without `end`.
        """

    @abstractmethod
    def score(self, prompt: Prompt, continuations: Sequence[Sequence[int]]) -> list[Logprob]:
        """Score each continuation of a prompt independently, in packed forward passes over one cached prefix.

        Args:
            prompt: The shared prefix.
            continuations: Token ids, at least one each.
        """
