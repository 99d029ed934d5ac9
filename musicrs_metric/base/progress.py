"""How far a long work has come: a bar on a terminal, and lines where the output goes to a file."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.console import Console

Item = TypeVar("Item")

_EVERY_S = 60.0


class ProgressLines:
    """Says how far a work has come: once a minute, and at its end.

    Args:
        say: Takes a line.
        label: What is being done.
        total: How many things there are to do.
        clock: Seconds that only ever grow.
    """

    def __init__(
        self, say: Callable[[str], None], label: str, total: int, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._say, self._label, self._total, self._clock = say, label, total, clock
        self._done = 0
        self._began = self._told = clock()

    def advance(self, done: int = 1, pace: str = "") -> None:
        """Count what was done.

        Args:
            done: How many things were done just now.
            pace: How fast it goes in words, if anyone knows.
        """
        self._done += done
        now, left = self._clock(), self._total - self._done
        if left > 0 and now - self._told < _EVERY_S:
            return
        self._told = now
        seconds = (now - self._began) / max(self._done, 1) * left
        words = (f"{self._done:,}/{self._total:,}", f"about {rough_time(seconds)} left" if left > 0 else "", pace)
        self._say(f"{self._label}: {', '.join(filter(None, words))}")


def track(items: Iterable[Item], label: str, total: int, console: Console) -> Iterator[Item]:
    """Show how far a loop over items has come; see the head of this module.

    Args:
        items: The items.
        label: What is done with them.
        total: How many there are; nothing is shown for none.
        console: Where to.

    Yields:
        The items.
    """
    if total and console.is_interactive:
        from rich.progress import track as bar

        yield from bar(items, label, total=total, console=console)
        return
    lines = ProgressLines(lambda line: say(console, line), label, total)
    for item in items:
        yield item
        lines.advance()


def say(console: Console, line: str) -> None:
    """Print a line as it stands, however long it is."""
    console.print(line, markup=False, highlight=False, soft_wrap=True)


def rough_time(seconds: float) -> str:
    """Write a time as one would say it: "a minute", "40 minutes", "5 hours"."""
    if seconds < 90:
        return "a minute"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.0f} hours"
