"""What is told of a long work: lines in a log file, a bar on a terminal."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from musicrs_metric.base.progress import ProgressLines, rough_time, track


def test_a_log_file_gets_a_line_a_minute() -> None:
    """Nothing in the first minute, then one as each has passed, and the end; the time left goes by what was done."""
    said: list[str] = []
    times = iter([0.0, 20.0, 60.0, 70.0, 125.0, 126.0])
    lines = ProgressLines(said.append, "Fetching", 1_000, clock=lambda: next(times))
    lines.advance(10)
    lines.advance(10)  # 20 in a minute, so that the other 980 take 49
    lines.advance(10)
    lines.advance(95, "7 tokens/s")  # 125 in 125 seconds
    lines.advance(875)
    assert said == [
        "Fetching: 20/1,000, about 49 minutes left",
        "Fetching: 125/1,000, about 15 minutes left, 7 tokens/s",
        "Fetching: 1,000/1,000",
    ]


@pytest.mark.parametrize(("terminal", "shown"), [(False, "Cutting: 3/3\n"), (True, "100%")])
def test_a_loop_on_a_terminal_and_in_a_log_file(terminal: bool, shown: str) -> None:
    """Either way the items come through, in their order."""
    told = StringIO()
    console = Console(file=told, force_terminal=terminal, force_interactive=terminal, width=80)
    assert list(track(iter("abc"), "Cutting", 3, console)) == ["a", "b", "c"]
    assert shown in told.getvalue()
    assert ("\x1b" in told.getvalue()) == terminal


def test_a_loop_over_nothing_says_nothing() -> None:
    """There is no progress to be told."""
    told = StringIO()
    assert list(track([], "Cutting", 0, Console(file=told))) == []
    assert told.getvalue() == ""


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(1, "a minute"), (89, "a minute"), (150, "2 minutes"), (5_399, "90 minutes"), (15_036, "4 hours")],
)
def test_rough_times(seconds: float, words: str) -> None:
    """In the unit that one would take."""
    assert rough_time(seconds) == words
