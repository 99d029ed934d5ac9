"""Faults of pools: uneven counts, relevant candidates that count as distractors, titles that appear twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from musicrs_metric.matching import normalise

from ..pools.entities import by_subreddit
from ..records import Thread
from .leakage_features import left_over_in


@dataclass(frozen=True)
class LeftOver:
    """Relevant candidates of one thread that count as distractors.

    Attributes:
        thread_id: The thread.
        row: Position of the thread in the dataset, from 0.
        entities: The candidates, in pool order.
    """

    thread_id: str
    row: int
    entities: tuple[str, ...]


@dataclass(frozen=True)
class Collision:
    """Candidates of one pool that become equal under `normalise`.

    Attributes:
        thread_id: The thread.
        row: Position of the thread in the dataset, from 0.
        spellings: Groups of candidates that are one title, in pool order.
        in_ground_truth: Per group, True if any of its candidates is relevant.
    """

    thread_id: str
    row: int
    spellings: tuple[tuple[str, ...], ...]
    in_ground_truth: tuple[bool, ...]


@dataclass(frozen=True)
class Evenness:
    """Counts of the titles of a subreddit in its pools.

    Attributes:
        subreddit: Name of the subreddit.
        threads: Number of pools.
        entities: Distinct candidates, letter for letter.
        count: Number of pools of the rarest and of the most frequent candidate.
        size: Candidates in the smallest and in the largest pool.
    """

    subreddit: str
    threads: int
    entities: int
    count: tuple[int, int]
    size: tuple[int, int]

    @property
    def even(self) -> bool:
        """True if every candidate appears in the same number of pools."""
        return self.count[0] == self.count[1]


def left_overs(threads: Sequence[Thread]) -> tuple[LeftOver, ...]:
    """List the threads with relevant candidates that count as distractors."""
    faults = (LeftOver(thread.thread_id, row, left_over_in(thread)) for row, thread in enumerate(threads))
    return tuple(fault for fault in faults if fault.entities)


def collisions(threads: Sequence[Thread]) -> tuple[Collision, ...]:
    """List the threads whose pool contains one title in several spellings."""
    faults = (_collision(row, thread) for row, thread in enumerate(threads))
    return tuple(fault for fault in faults if fault.spellings)


def _collision(row: int, thread: Thread) -> Collision:
    forms: dict[str, list[str]] = {}
    for name in thread.candidates:
        forms.setdefault(normalise(name), []).append(name)
    groups = tuple(tuple(names) for names in forms.values() if len(names) > 1)
    relevant = tuple(any(name in thread.ground_truth for name in names) for names in groups)
    return Collision(thread.thread_id, row, groups, relevant)


def evenness(threads: Sequence[Thread]) -> tuple[Evenness, ...]:
    """Count the titles of each subreddit in its own pools, as raw strings; subreddits in alphabetical order."""
    return tuple(_evenness(name, group) for name, group in by_subreddit(threads).items())


def _evenness(name: str, group: Sequence[Thread]) -> Evenness:
    counts = Counter(candidate for thread in group for candidate in thread.candidates)
    times = counts.values()
    sizes = [len(thread.candidates) for thread in group]
    count = (min(times, default=0), max(times, default=0))
    return Evenness(name, len(group), len(counts), count, (min(sizes), max(sizes)))


def shared_entities(threads: Sequence[Thread]) -> int:
    """Count the candidates (exact strings) that appear in pools of more than one subreddit."""
    places = {(candidate, thread.subreddit) for thread in threads for candidate in thread.candidates}
    return sum(n > 1 for n in Counter(candidate for candidate, _ in places).values())
