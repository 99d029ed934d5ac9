"""Batches in which a vector depends on what is embedded and on nothing beside it.

Threads are dealt to processes, and these must rank as one does, to the last digit: that decides near-ties. Two things
would get in the way. Padding changes last digits, so a text is padded to a length that follows from its own length, and
only texts of one padded length share a batch. And libraries multiply matrices of few rows by other means than larger
ones, so a batch that is too small is filled up with repeats: on a CPU to a multiple of eight rows, elsewhere to the
size of all other batches.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    import torch

T = TypeVar("T")

# Tokens of a forward pass, padding included: enough to keep a processor busy, little enough for any memory.
_TOKENS_AT_ONCE = 2048
_ROWS = 8


class Batch(NamedTuple):
    """Texts that go through a model together.

    Attributes:
        places: Where they stand among all texts.
        rows: The same, filled up with repeats of the last; a result beyond the number of places is not wanted.
        length: To how many tokens each is padded.
    """

    places: list[int]
    rows: list[int]
    length: int


def by_length(tokens: Sequence[Sequence[int]], longest: int, device: torch.device) -> Iterator[Batch]:
    """Deal texts into batches.

    Args:
        tokens: Texts as token numbers.
        longest: The most tokens that the model takes.
        device: Where the model is.

    Yields:
        The batches.
    """
    groups: dict[int, list[int]] = defaultdict(list)
    for place, ids in enumerate(tokens):
        step = 8 if len(ids) <= 32 else 32
        groups[min(-(-len(ids) // step) * step, longest)].append(place)
    for length, places in sorted(groups.items()):
        at_once = max(_ROWS, _TOKENS_AT_ONCE // length)
        for start in range(0, len(places), at_once):
            batch = places[start : start + at_once]
            yield Batch(batch, filled(batch, at_once, device), length)


def filled(rows: Sequence[T], at_once: int, device: torch.device) -> list[T]:
    """Fill a batch up with repeats of its last row.

    Args:
        rows: At least one row.
        at_once: Rows of a full batch.
        device: Where the model is.
    """
    wanted = min(-(-len(rows) // _ROWS) * _ROWS, at_once) if device.type == "cpu" else at_once
    return [*rows, *[rows[-1]] * (wanted - len(rows))]
