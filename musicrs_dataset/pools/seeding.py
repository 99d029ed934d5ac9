"""Generators whose draws depend on a seed and a name, and on nothing that happened before."""

from __future__ import annotations

import hashlib

import numpy as np


def generator(seed: int, *names: str) -> np.random.Generator:
    """Derive a random generator, so that one thread's draws do not move when another thread is added.

    Args:
        seed: The seed of the whole, at least 0.
        names: What the draws are for, e.g. "order" and a thread id.

    Returns:
        A generator; the same arguments give the same draws.
    """
    digest = hashlib.sha256("\0".join(names).encode()).digest()
    return np.random.default_rng([seed, int.from_bytes(digest[:16], "big")])


def shuffled(items: list[str], rng: np.random.Generator) -> tuple[str, ...]:
    """The items in random order."""
    return tuple(items[i] for i in rng.permutation(len(items)))
