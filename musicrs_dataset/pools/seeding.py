"""Random generators that depend only on a seed and a name."""

from __future__ import annotations

import hashlib

import numpy as np


def generator(seed: int, *names: str) -> np.random.Generator:
    """Derive a random generator, so that an added thread does not change the draws of the others.

    Args:
        seed: Seed of all draws, at least 0.
        names: Purpose of the draws, e.g. "order" and a thread id.

    Returns:
        A generator; the same arguments give the same draws.
    """
    digest = hashlib.sha256("\0".join(names).encode()).digest()
    return np.random.default_rng([seed, int.from_bytes(digest[:16], "big")])


def shuffled(items: list[str], rng: np.random.Generator) -> tuple[str, ...]:
    """Return the items in random order."""
    return tuple(items[i] for i in rng.permutation(len(items)))
