"""What the user sees while a run is under way, on standard error: lines, and a progress bar where it is a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from musicrs_metric.base.progress import ProgressLines, say

if TYPE_CHECKING:
    from rich.console import Console

_ESTIMATED_FROM = 3600  # seconds


class Reporter:
    """Tells the user how a run goes.

    Args:
        console: Where to write; None for silence.
        bar: Whether to show progress; of several processes one does.
    """

    def __init__(self, console: Console | None = None, *, bar: bool = True) -> None:
        self._console, self._bar = console, bar

    def say(self, line: str) -> None:
        """Show a line as it stands."""
        if self._console is not None:
            say(self._console, line)

    @contextmanager
    def progress(self, label: str, total: int) -> Iterator[Callable[[int, str], None]]:
        """Show progress while the block runs: a bar on a terminal, and lines in a log file.

        Args:
            label: What is being done.
            total: Number of threads to do.

        Yields:
            A function to call with the number of threads just done, and how fast it goes in words, if anyone knows.
        """
        if self._console is None or not self._bar:
            yield lambda _done, _pace: None
            return
        if not self._console.is_interactive:
            yield ProgressLines(self.say, label, total).advance
            return
        from rich.markup import escape
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        words, pace = TextColumn("{task.description}"), TextColumn("{task.fields[pace]}")
        columns = (words, BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), pace)
        # A thread may take a language model minutes, and the time left is estimated from several.
        with Progress(*columns, console=self._console, speed_estimate_period=_ESTIMATED_FROM) as progress:
            task = progress.add_task(escape(label), total=total, pace="")
            yield lambda done, at: progress.update(task, advance=done, pace=at)
