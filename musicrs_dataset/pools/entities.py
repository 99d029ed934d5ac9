"""The titles that a pool can be filled from, and which of them may stand in a given thread's pool."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from musicrs_metric.matching import normalise

from ..records import Thread


def by_subreddit(threads: Sequence[Thread]) -> dict[str, list[Thread]]:
    """Group threads by subreddit; subreddits in alphabetical order, threads in the order given."""
    groups: dict[str, list[Thread]] = {name: [] for name in sorted({thread.subreddit for thread in threads})}
    for thread in threads:
        groups[thread.subreddit].append(thread)
    return groups


def entities_of(threads: Iterable[Thread]) -> list[str]:
    """Every title that the threads' ground truth, replies and pools hold, letter for letter, sorted.

    Titles whose normal form is empty match nothing and are left out, unless a ground truth has them.
    """
    right: set[str] = set()
    names: set[str] = set()
    for thread in threads:
        right.update(thread.ground_truth)
        names.update(thread.all_entities, thread.candidates)
    return sorted(right | {name for name in names if normalise(name)})


def answers_of(thread: Thread) -> frozenset[str]:
    """Normal forms of all that the replies of a thread name: none of it can be a wrong answer there."""
    return frozenset(normalise(name) for name in (*thread.ground_truth, *thread.all_entities))


def one_spelling(names: Iterable[str]) -> list[str]:
    """Drop further spellings: of titles with one normal form the first stays, and none whose form is empty."""
    first: dict[str, str] = {}
    for name in names:
        first.setdefault(normalise(name), name)
    first.pop("", None)
    return list(first.values())
