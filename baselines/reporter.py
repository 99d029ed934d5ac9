"""What the user sees while a run is under way, on standard error: lines, and a progress bar."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


class Reporter:
    """Tells the user how a run goes.

    Args:
        console: Where to write; None for silence.
        bar: Whether to show a progress bar; of several processes one does.
    """

    def __init__(self, console: Console | None = None, *, bar: bool = True) -> None:
        self._console, self._bar = console, bar

    def say(self, line: str) -> None:
        """Show a line as it stands."""
        if self._console is not None:
            self._console.print(line, markup=False, highlight=False, soft_wrap=True)

    @contextmanager
    def progress(self, label: str, total: int) -> Iterator[Callable[[int], None]]:
        """Show a progress bar while the block runs.

        Args:
            label: What is being done.
            total: Number of threads to do.

        Yields:
            A function to call with the number of threads just done.
        """
        if self._console is None or not self._bar:
            yield lambda _done: None
            return
        from rich.markup import escape
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=self._console) as progress:
            task = progress.add_task(escape(label), total=total)
            yield lambda done: progress.advance(task, done)
