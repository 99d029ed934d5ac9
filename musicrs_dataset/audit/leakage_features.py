"""Features of candidates without music: pure functions from threads to one weight per candidate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from musicrs_metric.matching import normalise

from ..pools.entities import answers_of
from ..records import Thread
from .adversary import FeatureFunction, Weights

# Shorter titles ("be", "no", "ET") occur inside other words.
_SHORTEST_NAMED = 5


def constant(threads: Sequence[Thread]) -> Weights:
    """Return 0 for every candidate."""
    return [[0.0] * len(thread.candidates) for thread in threads]


def pool_frequency(threads: Sequence[Thread]) -> Weights:
    """Return the number of pools of the subreddit that contain the string."""
    return _frequency(threads, _own_subreddit, str)


def frequency_everywhere(threads: Sequence[Thread]) -> Weights:
    """Return the number of pools of all subreddits that contain the string."""
    return _frequency(threads, _everywhere, str)


def title_frequency(threads: Sequence[Thread]) -> Weights:
    """Return how often the title, in any spelling, appears in the pools of the subreddit."""
    return _frequency(threads, _own_subreddit, normalise)


def answers_elsewhere(threads: Sequence[Thread]) -> Weights:
    """Return 1 if the string is in the ground truth of another thread."""
    return _others(threads, _everywhere, lambda thread: thread.ground_truth)


def named_in_subreddit(threads: Sequence[Thread]) -> Weights:
    """Return 1 if the replies of another thread of the same subreddit name the string."""
    return _others(threads, _own_subreddit, lambda thread: thread.all_entities)


def named_anywhere(threads: Sequence[Thread]) -> Weights:
    """Return 1 if the replies of another thread name the string."""
    return _others(threads, _everywhere, lambda thread: thread.all_entities)


def length(threads: Sequence[Thread]) -> Weights:
    """Return the number of characters of the string."""
    return _by_string(threads, len)


def quoted(threads: Sequence[Thread]) -> Weights:
    """Return 1 if the string contains a double quote."""
    return _by_string(threads, lambda candidate: any(quote in candidate for quote in '"“”'))


def capitals(threads: Sequence[Thread]) -> Weights:
    """Return the share of the words that start with a capital."""

    def share(candidate: str) -> float:
        words = candidate.split()
        return sum(word[0].isupper() for word in words) / max(len(words), 1)

    return _by_string(threads, share)


def lower_case(threads: Sequence[Thread]) -> Weights:
    """Return 1 if the string has no capital."""
    return _by_string(threads, lambda candidate: candidate == candidate.lower())


def position(threads: Sequence[Thread]) -> Weights:
    """Return the negative position of the candidate in the stored pool."""
    return [[-float(i) for i in range(len(thread.candidates))] for thread in threads]


def named_in_query(threads: Sequence[Thread]) -> Weights:
    """Return 1 if the query contains the title, both in normal form; for titles of 5 characters or more."""

    def row(thread: Thread) -> list[float]:
        query = normalise(thread.query or "")
        titles = map(normalise, thread.candidates)
        return [float(len(title) >= _SHORTEST_NAMED and title in query) for title in titles]

    return [row(thread) for thread in threads]


def submission_words(threads: Sequence[Thread]) -> Weights:
    """Return the best word overlap (Jaccard index) with a title that the post names."""

    def row(thread: Thread) -> list[float]:
        named = [words for words in map(_words, thread.submission_entities) if words]
        titles = map(_words, thread.candidates)
        return [max((len(title & words) / len(title | words) for words in named), default=0.0) for title in titles]

    return [row(thread) for thread in threads]


def second_spelling(threads: Sequence[Thread]) -> Weights:
    """Return 1 if the pool contains the same title in another spelling."""

    def row(thread: Thread) -> list[float]:
        forms = list(map(normalise, thread.candidates))
        counts = Counter(forms)
        return [float(counts[form] > 1) for form in forms]

    return [row(thread) for thread in threads]


def left_over(threads: Sequence[Thread]) -> Weights:
    """Return 1 if the thread's own replies name the candidate and its ground truth lacks it."""

    def row(thread: Thread) -> list[float]:
        names = set(left_over_in(thread))
        return [float(candidate in names) for candidate in thread.candidates]

    return [row(thread) for thread in threads]


def left_over_in(thread: Thread) -> tuple[str, ...]:
    """List the distractors that the thread's replies name (equality under `normalise`), in pool order."""
    named = answers_of(thread)
    relevant = set(thread.ground_truth)
    return tuple(name for name in thread.candidates if name not in relevant and normalise(name) in named)


def group_size(threads: Sequence[Thread]) -> Weights:
    """Return the number of candidates that are in the same pools of the subreddit as the candidate."""
    pools: dict[tuple[str, str], list[int]] = {}
    for i, thread in enumerate(threads):
        for candidate in thread.candidates:
            pools.setdefault((thread.subreddit, candidate), []).append(i)
    groups = {key: (key[0], *places) for key, places in pools.items()}
    sizes = Counter(groups.values())
    return [[float(sizes[groups[thread.subreddit, c]]) for c in thread.candidates] for thread in threads]


def reverse(weigh: FeatureFunction) -> FeatureFunction:
    """Return the same feature with the opposite sign."""
    return lambda threads: [[-weight for weight in row] for row in weigh(threads)]


def _own_subreddit(thread: Thread) -> str:
    return thread.subreddit


def _everywhere(_: Thread) -> str:
    return ""


def _words(title: str) -> frozenset[str]:
    return frozenset(normalise(title).split())


def _by_string(threads: Sequence[Thread], weight: Callable[[str], float]) -> Weights:
    return [[float(weight(candidate)) for candidate in thread.candidates] for thread in threads]


def _frequency(threads: Sequence[Thread], scope: Callable[[Thread], str], form: Callable[[str], str]) -> Weights:
    counts = Counter((scope(thread), form(candidate)) for thread in threads for candidate in thread.candidates)
    return [[float(counts[scope(thread), form(c)]) for c in thread.candidates] for thread in threads]


def _others(
    threads: Sequence[Thread], scope: Callable[[Thread], str], names: Callable[[Thread], Sequence[str]]
) -> Weights:
    """Return 1 for strings that another thread has; the thread's own names do not count."""
    counts = Counter((scope(thread), name) for thread in threads for name in set(names(thread)))

    def row(thread: Thread) -> list[float]:
        own = set(names(thread))
        return [float(counts[scope(thread), c] > (c in own)) for c in thread.candidates]

    return [row(thread) for thread in threads]
