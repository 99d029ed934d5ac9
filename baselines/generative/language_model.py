"""What a protocol asks of a model: to complete prompts, and, of a model in this process, to choose and to score.

A server completes. A model in this process also completes under a constraint and scores continuations; `local` does
both for every model that transformers runs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from musicrs_dataset.audio.cutting import Samples

from .audio_limits import AudioLimits

# From the tokens generated so far to the tokens that may come next.
Allowed = Callable[[Sequence[int]], Sequence[int]]


class Prompt(NamedTuple):
    """What a model is given.

    Attributes:
        text: The request in words, without a chat template and without markers of sound: a model adds its own, and
            takes its control tokens out of the text.
        clips: Sound in the order in which it is heard, each of shape (n,), mono at the model's rate.
    """

    text: str
    clips: tuple[Samples, ...] = ()


class Completion(NamedTuple):
    """What a model answered.

    Attributes:
        text: The answer without the prompt and without control tokens.
        n_tokens: Its length.
        cut: Whether it ended because the budget did.
        details: What else is kept of it in `answers.jsonl`, in plain JSON types; None where there is nothing.
    """

    text: str
    n_tokens: int
    cut: bool
    details: dict[str, Any] | None = None


class Logprob(NamedTuple):
    """How likely a continuation is.

    Attributes:
        total: Sum of the natural logarithms of its tokens' probabilities.
        n_tokens: Number of its tokens.
    """

    total: float
    n_tokens: int


class LanguageModel(ABC):
    """A model that hears and answers in words.

    Making one must be cheap: weights are loaded by `load`.

    Attributes:
        limits: What it can hear.
    """

    limits: AudioLimits

    @property
    @abstractmethod
    def revision(self) -> str:
        """The commit or the hash of the weights, or what the server calls its model."""

    @property
    def differences(self) -> tuple[str, ...]:
        """What the published run of this model did in another way than the protocol `titles` under these options."""
        return ()

    def load(self) -> None:  # noqa: B027 - a server has nothing to load
        """Load what `complete` needs."""

    def describe_run(self, tokens: int, batch_size: int, is_scored: bool) -> list[str]:  # noqa: ARG002
        """What the user may want to know before a run, such as an estimate of memory; loads nothing.

        Args:
            tokens: Most tokens of a prompt and its answer.
            batch_size: Prompts at once.
            is_scored: Whether continuations are scored.
        """
        return []

    def findings(self) -> dict[str, Any]:
        """What loading has found out about the model, for the run card, in plain JSON types."""
        return {}

    @abstractmethod
    def n_tokens(self, text: str) -> int:
        """Tokens of a text, by the tokenizer alone; no weights are needed. A server's model may have to be guessed."""

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
        """A text as token numbers, without special tokens; no weights are needed."""

    @property
    @abstractmethod
    def end(self) -> int:
        """The token that ends an answer."""

    @abstractmethod
    def choose(self, prompt: Prompt, allowed: Allowed, budget: int) -> list[int]:
        """Complete one prompt with allowed tokens only.

        Returns:
            The tokens of the answer, `end` not among them.
        """

    @abstractmethod
    def score(self, prompt: Prompt, continuations: Sequence[Sequence[int]]) -> list[Logprob]:
        """How likely each continuation of a prompt is, each on its own: all in packed forwards over one cached prefix.

        Args:
            prompt: The shared prefix.
            continuations: Token numbers, at least one each.
        """
