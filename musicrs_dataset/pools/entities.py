"""Titles that can fill pools, and titles that may not be distractors in a thread's pool."""

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
    """List every title in the threads' ground truth, replies and pools, as distinct exact strings, sorted.

    Titles with an empty normal form match nothing and are excluded, unless a ground truth has them.
    """
    relevant: set[str] = set()
    names: set[str] = set()
    for thread in threads:
        relevant.update(thread.ground_truth)
        names.update(thread.all_entities, thread.candidates)
    return sorted(relevant | {name for name in names if normalise(name)})


def answers_of(thread: Thread) -> frozenset[str]:
    """Return the normal forms of all titles that the replies of a thread name; none may be a distractor there."""
    return frozenset(normalise(name) for name in (*thread.ground_truth, *thread.all_entities))


def one_spelling(names: Iterable[str]) -> list[str]:
    """Keep the first title of each normal form, and drop titles with an empty normal form."""
    first: dict[str, str] = {}
    for name in names:
        first.setdefault(normalise(name), name)
    first.pop("", None)
    return list(first.values())
