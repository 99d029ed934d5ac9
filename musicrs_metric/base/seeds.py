"""Randomness that depends on the seed, the thread and the purpose, and on nothing else.

No generator is shared between threads: one would make a thread's ranking depend on which threads came before it, on
the number of processes, and on where a stopped run was taken up again.
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
        purpose: What is chosen, such as "shuffle"; two choices in one thread need two purposes.

    Returns:
        An integer of 64 bits, fit for any generator.
    """
    return int.from_bytes(_digest(seed, thread_id, purpose)[:8], "big")


def shuffled(items: Sequence[T], seed: int, thread_id: str, purpose: str) -> list[T]:
    """Put items into a random order: by the hash of their place, so that no library's generator has a say in it.

    Args:
        items: What to shuffle; equal items are told apart by place.
        seed: Seed of the run.
        thread_id: The thread.
        purpose: See `derive`.
    """
    keys = [_digest(seed, thread_id, purpose, str(place)) for place in range(len(items))]
    return [items[place] for place in sorted(range(len(items)), key=keys.__getitem__)]


def _digest(*parts: int | str) -> bytes:
    return hashlib.sha256("\0".join(map(str, parts)).encode()).digest()
