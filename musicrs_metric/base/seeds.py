"""Randomness that depends only on the seed, the thread and the purpose.

Threads share no generator. Otherwise the ranking of a thread would depend on the threads before it, on the number of
processes, and on the position at which a stopped run was resumed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def derive(seed: int, thread_id: str, purpose: str) -> int:
    """Derive the seed of one random choice.

    Args:
        seed: Seed of the run.
        thread_id: The thread.
        purpose: Name of the choice, such as "shuffle". Two choices in one thread need two purposes.

    Returns:
        An integer of 64 bits, fit for any generator.
    """
    return int.from_bytes(_digest(seed, thread_id, purpose)[:8], "big")


def shuffled(items: Sequence[T], seed: int, thread_id: str, purpose: str) -> list[T]:
    """Put items into a random order, by the hash of their position, so that it depends on no library's generator.

    Args:
        items: The items. Equal items are distinguished by position.
        seed: Seed of the run.
        thread_id: The thread.
        purpose: See `derive`.
    """
    keys = [_digest(seed, thread_id, purpose, str(position)) for position in range(len(items))]
    return [items[position] for position in sorted(range(len(items)), key=keys.__getitem__)]


def _digest(*parts: int | str) -> bytes:
    return hashlib.sha256("\0".join(map(str, parts)).encode()).digest()
