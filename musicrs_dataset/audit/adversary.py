"""What an adversary is: a ranking made without music, declared with what it looks at and what it exploits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from ..pools.seeding import generator
from ..records import Thread

# The run card's terms for what a system looks at: its own thread, other threads' pools or texts, other threads' labels.
Reads = Literal["thread", "pools", "labels"]
Route = Literal[
    "chance",
    "pool frequency",
    "other threads' answers",
    "string form",
    "place in the pool",
    "named by the asker",
    "second spellings",
    "left-over answers",
    "honest signal",
]
Ties = Literal["place", "shuffled"]

# One number per candidate of each thread; higher is ranked first.
Weights = list[list[float]]
Weigh = Callable[[Sequence[Thread]], Weights]


@dataclass(frozen=True)
class Adversary:
    """A ranking rule that knows nothing about music.

    Attributes:
        name: Short name, as in reports.
        route: What it belongs to; a verdict is given per route.
        reads: What it looks at, in the terms of the run card.
        exploits: One sentence on what it makes use of.
        weigh: Pure function from threads to one weight per candidate.
        ties: How candidates of equal weight are ordered: by their place in the pool, or shuffled by a seed.
    """

    name: str
    route: Route
    reads: Reads
    exploits: str
    weigh: Weigh
    ties: Ties = "place"


def rankings(threads: Sequence[Thread], weights: Weights, seed: int | None) -> list[list[str]]:
    """Rank each pool by weight, heaviest first.

    Args:
        threads: Threads with their pools.
        weights: One weight per candidate.
        seed: Orders ties at random, thread by thread; None keeps tied candidates in pool order.

    Returns:
        One permutation of the pool per thread.
    """
    return [_rank(thread, row, seed) for thread, row in zip(threads, weights, strict=True)]


def _rank(thread: Thread, weights: list[float], seed: int | None) -> list[str]:
    order = range(len(weights))
    if seed is not None:
        order = generator(seed, "ties", thread.thread_id).permutation(len(weights)).tolist()
    return [thread.candidates[i] for i in sorted(order, key=lambda i: -weights[i])]
