"""What every design of pools returns: the pools, how they were made, and what had to give."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from ..records import Thread

# The published recipe: up to 10 right answers and 90 distractors.
DISTRACTORS = 90

# Subreddits with their threads, and what may be laid around the loop over them.
Groups = list[tuple[str, list[Thread]]]
Track = Callable[[Groups], Iterable[tuple[str, list[Thread]]]]


class Design(StrEnum):
    """How pools are drawn; see the modules of these names."""

    PAPER = "paper"
    BALANCED = "balanced"
    FRESH = "fresh"


@dataclass(frozen=True)
class SubredditPools:
    """How the pools of one subreddit came out.

    Attributes:
        threads: Number of threads.
        entities: Distinct candidates, letter for letter, over all its pools.
        left_out: Titles of the subreddit that stand in none of its pools.
        size: Candidates of the smallest and of the largest pool.
        wanted: Mean size that was asked for.
        count: Number of pools that each entity stands in, where the design makes that equal; else None.
    """

    threads: int
    entities: int
    left_out: int
    size: tuple[int, int]
    wanted: float
    count: int | None = None


@dataclass(frozen=True)
class PoolSet:
    """Pools for a set of threads.

    Attributes:
        design: How they were drawn.
        seed: The seed they are a function of.
        pools: Thread id to candidates in stored (shuffled) order, threads in dataset order.
        subreddits: Subreddit to how its pools came out.
        notes: What a user should know, e.g. a subreddit too small for the size asked for; one sentence each.
    """

    design: Design
    seed: int
    pools: Mapping[str, tuple[str, ...]]
    subreddits: Mapping[str, SubredditPools]
    notes: tuple[str, ...] = ()


def describe(
    pools: Iterable[tuple[str, ...]], *, known: int, wanted: float, count: int | None = None
) -> SubredditPools:
    """Summarise the pools of one subreddit; `known` is the number of titles it has."""
    rows = list(pools)
    distinct = {name for row in rows for name in row}
    sizes = [len(row) for row in rows]
    return SubredditPools(len(rows), len(distinct), known - len(distinct), (min(sizes), max(sizes)), wanted, count)


def untracked(groups: Groups) -> Groups:
    """No progress bar."""
    return groups
