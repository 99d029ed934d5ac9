"""Progress on stderr."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from musicrs_metric.base.progress import track

Item = TypeVar("Item")


def tracking(what: str) -> Callable[[Iterable[Item], int], Iterable[Item]]:
    """Show progress over items that come one by one; see `musicrs_metric.base.progress`.

    Args:
        what: What is done with them.

    Returns:
        A function of the items and their number, which gives the items.
    """
    from rich.console import Console

    return lambda items, total: track(items, what, total, Console(stderr=True))


def tracking_list(what: str) -> Callable[[Sequence[Item]], Iterable[Item]]:
    """Show progress over a list of items; see `tracking`."""
    tracked: Callable[[Iterable[Item], int], Iterable[Item]] = tracking(what)
    return lambda items: tracked(items, len(items))
