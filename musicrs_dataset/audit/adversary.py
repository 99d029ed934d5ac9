"""Adversaries: rankings without music, each declared with the data that it reads and the property that it exploits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from ..pools.seeding import generator
from ..records import Thread

# Terms of the run card: a system reads its own thread, pools or texts of other threads, or labels of other threads.
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
    "likeness of candidates",
    "size of groups",
    "honest signal",
]
Ties = Literal["place", "shuffled"]

# One number per candidate of each thread; higher is ranked first.
Weights = list[list[float]]
FeatureFunction = Callable[[Sequence[Thread]], Weights]


@dataclass(frozen=True)
class Adversary:
    """Ranking rule without knowledge of music.

    Attributes:
        name: Short name, as in reports.
        route: Way in which a pool can leak; each route gets a verdict.
        reads: Data that the rule reads, in the terms of the run card.
        exploits: One sentence on the property that the rule exploits.
        weigh: Pure function from threads to one weight per candidate.
        ties: Order of candidates of equal weight: by their place in the pool, or shuffled by a seed.
    """

    name: str
    route: Route
    reads: Reads
    exploits: str
    weigh: FeatureFunction
    ties: Ties = "place"


def rankings(threads: Sequence[Thread], weights: Weights, seed: int | None) -> list[list[str]]:
    """Rank each pool by weight, highest first.

    Args:
        threads: Threads with their pools.
        weights: One weight per candidate.
        seed: Seed of the random order of ties, per thread; None keeps tied candidates in pool order.

    Returns:
        One permutation of the pool per thread.
    """
    return [_rank(thread, row, seed) for thread, row in zip(threads, weights, strict=True)]


def _rank(thread: Thread, weights: list[float], seed: int | None) -> list[str]:
    order = range(len(weights))
    if seed is not None:
        order = generator(seed, "ties", thread.thread_id).permutation(len(weights)).tolist()
    return [thread.candidates[i] for i in sorted(order, key=lambda i: -weights[i])]
