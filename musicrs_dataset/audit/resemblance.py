"""Adversaries that compare the candidates of a pool with each other, without the query.

The relevant candidates of a thread resemble each other, because one community named them for one query. Among random
distractors they are a cluster. A system that sees the whole pool at once can find it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from zlib import crc32

import numpy as np
import numpy.typing as npt

from musicrs_metric.matching import normalise

from ..records import Thread
from .adversary import Adversary, Weights

# Texts to vectors of shape (n, d). They are scaled to unit length here.
Embed = Callable[[Sequence[str]], npt.NDArray[np.floating]]

_NEAREST = 3
_GRAM, _DIMENSIONS = 3, 1024


def resemblance_adversaries(embed: Embed, kind: str) -> tuple[Adversary, ...]:
    """Declare the adversaries on the likeness of candidates to each other.

    Args:
        embed: Any text encoder.
        kind: Kind of likeness, for names: `in spelling`, `in meaning`.

    Returns:
        Two adversaries: one reads the pool alone, the other one also the pools of the subreddit.
    """
    return (
        Adversary(
            f"like other candidates {kind}", "likeness of candidates", "thread",
            f"Candidates closest {kind} to the {_NEAREST} nearest others of the pool come first (mean cosine).",
            lambda threads: _like_nearest(threads, embed),
        ),
        Adversary(
            f"like this pool {kind}", "likeness of candidates", "pools",
            f"Candidates closest {kind} to the mean of the pool come first, less their likeness to the mean of all "
            "pools of the subreddit.",
            lambda threads: _like_pool(threads, embed),
        ),
    )  # fmt: skip


def spelling_vectors(texts: Sequence[str]) -> npt.NDArray[np.float64]:
    """Return counts of character trigrams of the normal forms, hashed to 1,024 dimensions. Needs no model."""
    vectors = np.zeros((len(texts), _DIMENSIONS))
    for vector, text in zip(vectors, texts, strict=True):
        for place in _places(text):
            vector[place] += 1
    return vectors


@cache
def _places(text: str) -> tuple[int, ...]:
    padded = f" {normalise(text)} "
    return tuple(crc32(padded[i : i + _GRAM].encode()) % _DIMENSIONS for i in range(len(padded) - _GRAM + 1))


def unit_vectors(embed: Embed, texts: Sequence[str]) -> npt.NDArray[np.float64]:
    """Embed texts, and scale the vectors to unit length. The zero vector stays."""
    vectors = np.asarray(embed(texts), dtype=np.float64)
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    units: npt.NDArray[np.float64] = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
    return units


def _pool_vectors(threads: Sequence[Thread], embed: Embed) -> list[npt.NDArray[np.float64]]:
    """Embed each distinct candidate once, and return one row per candidate of each pool."""
    distinct = list(dict.fromkeys(candidate for thread in threads for candidate in thread.candidates))
    row = {candidate: i for i, candidate in enumerate(distinct)}
    vectors = unit_vectors(embed, distinct)
    return [vectors[[row[candidate] for candidate in thread.candidates]] for thread in threads]


def _like_nearest(threads: Sequence[Thread], embed: Embed) -> Weights:
    def weigh(pool: npt.NDArray[np.float64]) -> list[float]:
        if len(pool) < 2:
            return [0.0] * len(pool)
        likeness = pool @ pool.T
        np.fill_diagonal(likeness, -np.inf)
        nearest = min(_NEAREST, len(pool) - 1)
        result: list[float] = np.sort(likeness, axis=1)[:, -nearest:].mean(axis=1).tolist()
        return result

    return [weigh(pool) for pool in _pool_vectors(threads, embed)]


def _like_pool(threads: Sequence[Thread], embed: Embed) -> Weights:
    pools = _pool_vectors(threads, embed)
    by_subreddit: dict[str, list[npt.NDArray[np.float64]]] = {}
    for thread, pool in zip(threads, pools, strict=True):
        by_subreddit.setdefault(thread.subreddit, []).append(pool)
    # A title counts once per pool, so that frequent titles, which are less often relevant, are subtracted more.
    means = {subreddit: np.concatenate(group).mean(axis=0) for subreddit, group in by_subreddit.items()}
    return [
        (pool @ (pool.mean(axis=0) - means[thread.subreddit])).tolist()
        for thread, pool in zip(threads, pools, strict=True)
    ]
