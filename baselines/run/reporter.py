"""Progress of a run on standard error: lines, and a progress bar on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from musicrs_metric.base.progress import ProgressLines, say

if TYPE_CHECKING:
    from rich.console import Console

_ESTIMATED_FROM = 3600  # seconds


class Reporter:
    """Shows the progress of a run.

    Args:
        console: Console of the output; None for no output.
        bar: Whether to show progress. Of several processes, one does.
    """

    def __init__(self, console: Console | None = None, *, bar: bool = True) -> None:
        self._console, self._bar = console, bar

    def say(self, line: str) -> None:
        """Show a line without markup."""
        if self._console is not None:
            say(self._console, line)

    @contextmanager
    def progress(self, label: str, total: int) -> Iterator[Callable[[int, str], None]]:
        """Show progress while the block runs: a bar on a terminal, and lines in a log file.

        Args:
            label: Name of the task.
            total: Number of threads to rank.

        Yields:
            A function that takes the number of threads just ranked, and the throughput as text, which may be empty.
        """
        if self._console is None or not self._bar:
            yield lambda _done, _throughput: None
            return
        if not self._console.is_interactive:
            yield ProgressLines(self.say, label, total).advance
            return
        from rich.markup import escape
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        text, throughput = TextColumn("{task.description}"), TextColumn("{task.fields[throughput]}")
        columns = (text, BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), throughput)
        # A thread may take a language model minutes, so the time left is estimated from a long period.
        with Progress(*columns, console=self._console, speed_estimate_period=_ESTIMATED_FROM) as progress:
            task = progress.add_task(escape(label), total=total, throughput="")
            yield lambda done, speed: progress.update(task, advance=done, throughput=speed)
