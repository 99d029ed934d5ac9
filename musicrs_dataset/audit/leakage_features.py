"""What can be told of a candidate without music: pure functions from threads to one weight per candidate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from musicrs_metric.matching import normalise

from ..pools.entities import answers_of
from ..records import Thread
from .adversary import Weigh, Weights

# Titles this short ("be", "no", "ET") are found inside other words.
_SHORTEST_NAMED = 5


def nothing(threads: Sequence[Thread]) -> Weights:
    """All candidates alike."""
    return [[0.0] * len(thread.candidates) for thread in threads]


def pool_frequency(threads: Sequence[Thread]) -> Weights:
    """In how many pools of its subreddit the string stands."""
    return _frequency(threads, _own_subreddit, str)


def frequency_everywhere(threads: Sequence[Thread]) -> Weights:
    """In how many pools of all subreddits the string stands."""
    return _frequency(threads, _everywhere, str)


def title_frequency(threads: Sequence[Thread]) -> Weights:
    """How often the title, in any spelling, stands in the pools of its subreddit."""
    return _frequency(threads, _own_subreddit, normalise)


def answers_elsewhere(threads: Sequence[Thread]) -> Weights:
    """Whether the string is in the ground truth of any other thread."""
    return _others(threads, _everywhere, lambda thread: thread.ground_truth)


def named_in_subreddit(threads: Sequence[Thread]) -> Weights:
    """Whether the replies of another thread of the same subreddit name the string."""
    return _others(threads, _own_subreddit, lambda thread: thread.all_entities)


def named_anywhere(threads: Sequence[Thread]) -> Weights:
    """Whether the replies of any other thread name the string."""
    return _others(threads, _everywhere, lambda thread: thread.all_entities)


def length(threads: Sequence[Thread]) -> Weights:
    """Characters of the string."""
    return _by_string(threads, len)


def quoted(threads: Sequence[Thread]) -> Weights:
    """Whether the string has a double quote in it."""
    return _by_string(threads, lambda candidate: any(quote in candidate for quote in '"“”'))


def capitals(threads: Sequence[Thread]) -> Weights:
    """Share of the words that start with a capital."""

    def share(candidate: str) -> float:
        words = candidate.split()
        return sum(word[0].isupper() for word in words) / max(len(words), 1)

    return _by_string(threads, share)


def lower_case(threads: Sequence[Thread]) -> Weights:
    """Whether the string has no capital at all."""
    return _by_string(threads, lambda candidate: candidate == candidate.lower())


def place(threads: Sequence[Thread]) -> Weights:
    """How early the candidate stands in the stored pool."""
    return [[-float(i) for i in range(len(thread.candidates))] for thread in threads]


def named_in_query(threads: Sequence[Thread]) -> Weights:
    """Whether the query holds the title, both in normal form; titles of 5 characters or more."""

    def row(thread: Thread) -> list[float]:
        query = normalise(thread.query or "")
        titles = map(normalise, thread.candidates)
        return [float(len(title) >= _SHORTEST_NAMED and title in query) for title in titles]

    return [row(thread) for thread in threads]


def submission_words(threads: Sequence[Thread]) -> Weights:
    """Words shared with a title that the asker named, as a share of the words of both (Jaccard), the best match."""

    def row(thread: Thread) -> list[float]:
        named = [words for words in map(_words, thread.submission_entities) if words]
        titles = map(_words, thread.candidates)
        return [max((len(title & words) / len(title | words) for words in named), default=0.0) for title in titles]

    return [row(thread) for thread in threads]


def second_spelling(threads: Sequence[Thread]) -> Weights:
    """Whether the pool holds the same title in another spelling."""

    def row(thread: Thread) -> list[float]:
        forms = list(map(normalise, thread.candidates))
        counts = Counter(forms)
        return [float(counts[form] > 1) for form in forms]

    return [row(thread) for thread in threads]


def left_over(threads: Sequence[Thread]) -> Weights:
    """Whether the thread's own replies name the candidate although its ground truth lacks it."""

    def row(thread: Thread) -> list[float]:
        names = set(left_over_in(thread))
        return [float(candidate in names) for candidate in thread.candidates]

    return [row(thread) for thread in threads]


def left_over_in(thread: Thread) -> tuple[str, ...]:
    """Candidates that are true answers and count as wrong (equality under `normalise`), in pool order."""
    answers = answers_of(thread)
    right = set(thread.ground_truth)
    return tuple(name for name in thread.candidates if name not in right and normalise(name) in answers)


def reverse(weigh: Weigh) -> Weigh:
    """The same tell with the lightest first."""
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
    """Leave-one-out: what the thread itself has does not count."""
    counts = Counter((scope(thread), name) for thread in threads for name in set(names(thread)))

    def row(thread: Thread) -> list[float]:
        own = set(names(thread))
        return [float(counts[scope(thread), c] > (c in own)) for c in thread.candidates]

    return [row(thread) for thread in threads]
