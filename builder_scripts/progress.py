"""Progress bars on stderr."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def tracking(what: str) -> Callable[[Iterable[Item], int], Iterable[Item]]:
    """Make a progress bar for items that come one by one.

    Args:
        what: What is done with them.

    Returns:
        A function of the items and their number, which gives the items.
    """
    from rich.console import Console
    from rich.progress import track

    return lambda items, total: track(items, what, total=total, console=Console(stderr=True), disable=not total)


def tracking_list(what: str) -> Callable[[Sequence[Item]], Iterable[Item]]:
    """Make a progress bar for a list of items; see `tracking`."""
    tracked: Callable[[Iterable[Item], int], Iterable[Item]] = tracking(what)
    return lambda items: tracked(items, len(items))
