"""Progress of a long task: a bar on a terminal, and lines in a file."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.console import Console

Item = TypeVar("Item")

_EVERY_S = 60.0


class ProgressLines:
    """Lines that report progress: one per minute, and one at the end.

    Args:
        say: Prints a line.
        label: Name of the task.
        total: Number of items.
        clock: A monotonic clock, in seconds.
    """

    def __init__(
        self, say: Callable[[str], None], label: str, total: int, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._say, self._label, self._total, self._clock = say, label, total, clock
        self._done = 0
        self._began = self._reported = clock()

    def advance(self, done: int = 1, pace: str = "") -> None:
        """Count finished items.

        Args:
            done: Number of items that were just finished.
            pace: Speed as text, if known.
        """
        self._done += done
        now, left = self._clock(), self._total - self._done
        if left > 0 and now - self._reported < _EVERY_S:
            return
        self._reported = now
        seconds = (now - self._began) / max(self._done, 1) * left
        words = (f"{self._done:,}/{self._total:,}", f"about {rough_time(seconds)} left" if left > 0 else "", pace)
        self._say(f"{self._label}: {', '.join(filter(None, words))}")


def track(items: Iterable[Item], label: str, total: int, console: Console) -> Iterator[Item]:
    """Show the progress of a loop over items: a bar, or lines if the output is no terminal.

    Args:
        items: The items.
        label: Name of the task.
        total: Number of items; nothing is shown for 0.
        console: Console to print on.

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
    """Print a line without markup, highlighting or line breaks."""
    console.print(line, markup=False, highlight=False, soft_wrap=True)


def rough_time(seconds: float) -> str:
    """Write a duration in words: "a minute", "40 minutes", "5 hours"."""
    if seconds < 90:
        return "a minute"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.0f} hours"
