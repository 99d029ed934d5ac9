"""Speed and cost of answers."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from .request import Response


@dataclass(frozen=True)
class Prices:
    """Prices of tokens per million, in any currency. 0 for a local machine.

    Attributes:
        read: Price of tokens in prompts.
        written: Price of tokens in answers.
    """

    read: float = 0.0
    written: float = 0.0

    def of(self, n_read: int, n_written: int) -> float:
        """Return the price of a number of tokens."""
        return (n_read * self.read + n_written * self.written) / 1e6


def amount(cost: float) -> str:
    """Format a price with two decimals, or with two significant digits below 0.1."""
    return f"{cost:,.2f}" if cost >= 0.1 else f"{cost:.2g}"


@dataclass
class UsageMeter:
    """Counts of responses, tokens and cost.

    Attributes:
        prices: Prices of tokens.
        clock: Monotonic clock in seconds.
        cached: Usable responses from the cache.
        answered: Usable responses of the model in this run.
        failures: Number of other responses by reason. The message of the server takes precedence.
        read: Tokens of prompts in this run, failures included.
        written: Tokens of answers in this run, failures included.
    """

    prices: Prices = field(default_factory=Prices)
    clock: Callable[[], float] = time.monotonic
    cached: int = 0
    answered: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    read: int = 0
    written: int = 0

    def __post_init__(self) -> None:
        self._began = self.clock()
        self._paid = 0

    def add(self, response: Response, failure: str | None = None) -> None:
        """Count a response, with the reason if it cannot be used."""
        if response.cached:
            self.cached += 1
            return
        self._paid += bool(response.prompt_tokens or response.completion_tokens)
        self.read += response.prompt_tokens
        self.written += response.completion_tokens
        if failure or response.error:
            self.failures[response.error or failure or ""] += 1
        else:
            self.answered += 1

    @property
    def failed(self) -> int:
        """Number of responses that cannot be used."""
        return self.failures.total()

    @property
    def done(self) -> int:
        """Number of responses of every kind."""
        return self.cached + self.answered + self.failed

    @property
    def cost(self) -> float:
        """Cost of this run."""
        return self.prices.of(self.read, self.written)

    def line(self, total: int) -> str:
        """Describe the progress in one line.

        Args:
            total: Final number of responses. The total cost is extrapolated from this run. It is too low if longer
                prompts follow.
        """
        seconds = max(self.clock() - self._began, 1e-9)
        parts = [f"{(self.read + self.written) / seconds:,.0f} tokens/s"]
        if self.cost and self._paid:
            left = max(total - self.done, 0)
            parts.append(f"cost {amount(self.cost)}, about {amount(self.cost * (1 + left / self._paid))} in all")
        parts += [f"{n:,} {word}" for n, word in ((self.cached, "from the store"), (self.failed, "failed")) if n]
        return ", ".join(parts)

    def summary(self) -> str:
        """Describe the whole run in one line."""
        cost = f", cost {amount(self.cost)}" if self.cost else ""
        failed = f" and {self.failed:,} of no use" if self.failed else ""
        return (
            f"{self.answered:,} answers of the model now{failed}, {self.cached:,} from the store; {self.read:,} tokens "
            f"read, {self.written:,} written{cost}"
        )
