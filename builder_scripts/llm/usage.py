"""How fast answers come and what they cost."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from .request import Response


@dataclass(frozen=True)
class Prices:
    """What tokens cost, in the user's currency per million; 0 for one's own machine.

    Attributes:
        read: Tokens of prompts.
        written: Tokens of answers.
    """

    read: float = 0.0
    written: float = 0.0

    def of(self, n_read: int, n_written: int) -> float:
        """The price of so many tokens."""
        return (n_read * self.read + n_written * self.written) / 1e6


def amount(cost: float) -> str:
    """Write a price: with two decimals, and a small one with two digits that say something."""
    return f"{cost:,.2f}" if cost >= 0.1 else f"{cost:.2g}"


@dataclass
class UsageMeter:
    """Adds up responses.

    Attributes:
        prices: What tokens cost.
        clock: Seconds that only ever grow.
        cached: Usable responses out of the store.
        answered: Usable responses that a model gave now.
        failures: Why the other responses are of no use, with how many each; what the server said where it said so.
        read: Tokens of prompts, of everything that was asked now, failures included.
        written: Tokens of answers, likewise.
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
        """Count a response, and why it is of no use."""
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
        """Responses of no use."""
        return self.failures.total()

    @property
    def done(self) -> int:
        """Responses of every kind."""
        return self.cached + self.answered + self.failed

    @property
    def cost(self) -> float:
        """What was spent now."""
        return self.prices.of(self.read, self.written)

    def line(self, total: int) -> str:
        """Say where things stand in a line.

        Args:
            total: How many responses there will be; the cost of all of them is extrapolated from those answered now,
                which says nothing where longer prompts are yet to come.
        """
        seconds = max(self.clock() - self._began, 1e-9)
        parts = [f"{(self.read + self.written) / seconds:,.0f} tokens/s"]
        if self.cost and self._paid:
            left = max(total - self.done, 0)
            parts.append(f"cost {amount(self.cost)}, about {amount(self.cost * (1 + left / self._paid))} in all")
        parts += [f"{n:,} {word}" for n, word in ((self.cached, "from the store"), (self.failed, "failed")) if n]
        return ", ".join(parts)

    def summary(self) -> str:
        """Say in a line what all of it took."""
        cost = f", cost {amount(self.cost)}" if self.cost else ""
        failed = f" and {self.failed:,} of no use" if self.failed else ""
        return (
            f"{self.answered:,} answers of the model now{failed}, {self.cached:,} from the store; {self.read:,} tokens "
            f"read, {self.written:,} written{cost}"
        )
