"""The statistics of a dataset: what the paper's tables count, and what a score on it has to be read against."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import mean, median
from typing import Any

from musicrs_metric.base.genres import GENRES, macro_of
from musicrs_metric.chance import chance
from musicrs_metric.hits import hits_from_strings
from musicrs_metric.runs.references import fingerprint

from .records import Thread

Histogram = dict[int, int]


@dataclass(frozen=True)
class Titles:
    """Occurrences of titles, and how many different ones there are letter for letter."""

    total: int
    distinct: int


@dataclass(frozen=True)
class Share:
    """Threads of a group; `share` of all threads, in [0, 1]."""

    threads: int
    share: float


@dataclass(frozen=True)
class Links:
    """Links to videos.

    Attributes:
        total: Links.
        distinct: Different videos.
        with_start: Links that start later than at 0 s.
        most: Links of the thread that has the most.
        threads_without: Threads that have none.
    """

    total: int
    distinct: int
    with_start: int
    most: int
    threads_without: int


@dataclass(frozen=True)
class Audio:
    """Clips; `hours` is their total length, `threads` how many threads have at least one."""

    clips: int
    hours: float
    threads: int


@dataclass(frozen=True)
class Frequency:
    """In how many other pools of its subreddit a candidate stands: mean over right answers and over all others.

    Where the two differ, counting titles in the pools is enough to score away from chance, with no music involved.
    None where there is nothing to average.
    """

    right: float | None
    wrong: float | None


@dataclass(frozen=True)
class Description:
    """Statistics of one dataset.

    Attributes:
        threads: Number of threads.
        fingerprint: See `musicrs_metric.runs.references.fingerprint`.
        genres: Genre to its share, in the project's order.
        macro_genres: The same for MM (mainstream), IM (instrumental), AE (alternative and electronic).
        subreddits: The same for subreddits, largest first.
        candidates: Titles in the pools.
        ground_truth: Titles that count as right.
        all_entities: Titles that the replies name.
        comments: Number of replies.
        pool_sizes: Candidates per pool to number of threads.
        ground_truth_sizes: Right answers per thread to number of threads.
        query_words: Median and largest number of words of a request; None without requests.
        links: Links to videos.
        link_statuses: Status of links (see `records.Link`) to number of links.
        audio: Clips.
        pool_frequency: How common right and wrong candidates are in the pools.
        chance: Measure to exact expectation of a random ranking, all threads averaged; in [0, 1].
    """

    threads: int
    fingerprint: str
    genres: dict[str, Share]
    macro_genres: dict[str, Share]
    subreddits: dict[str, Share]
    candidates: Titles
    ground_truth: Titles
    all_entities: Titles
    comments: int
    pool_sizes: Histogram
    ground_truth_sizes: Histogram
    query_words: tuple[float, int] | None
    links: Links
    link_statuses: dict[str, int]
    audio: Audio
    pool_frequency: Frequency
    chance: dict[str, float]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        return asdict(self)


def describe(threads: Sequence[Thread]) -> Description:
    """Count what is in a dataset.

    Args:
        threads: Its threads, at least one; the bytes of their clips are not looked at.

    Returns:
        The statistics.

    Raises:
        ValueError: There is no thread.
    """
    if not threads:
        raise ValueError("there are no threads to describe")
    subreddits = Counter(thread.subreddit for thread in threads)
    words = [len(thread.query.split()) for thread in threads if thread.query]
    return Description(
        threads=len(threads),
        fingerprint=fingerprint((t.thread_id, t.candidates, t.ground_truth) for t in threads),
        genres=_shares([t.genre for t in threads], order=GENRES),
        macro_genres=_shares([macro_of(t.genre) for t in threads], order=("MM", "IM", "AE")),
        subreddits=_shares([t.subreddit for t in threads], order=[name for name, _ in subreddits.most_common()]),
        candidates=_titles(t.candidates for t in threads),
        ground_truth=_titles(t.ground_truth for t in threads),
        all_entities=_titles(t.all_entities for t in threads),
        comments=sum(len(t.comments) for t in threads),
        pool_sizes=_histogram(len(t.candidates) for t in threads),
        ground_truth_sizes=_histogram(len(t.ground_truth) for t in threads),
        query_words=(median(words), max(words)) if words else None,
        links=_links(threads),
        link_statuses=dict(sorted(Counter(link.status for thread in threads for link in thread.links).items())),
        audio=_audio(threads),
        pool_frequency=_pool_frequency(threads),
        chance=_chance(threads),
    )


def _shares(labels: Sequence[str], order: Sequence[str]) -> dict[str, Share]:
    counts = Counter(labels)
    names = [*order, *sorted(set(labels) - set(order))]
    return {name: Share(counts[name], counts[name] / len(labels)) for name in names if counts[name]}


def _titles(lists: Iterable[Sequence[str]]) -> Titles:
    titles = [title for row in lists for title in row]
    return Titles(len(titles), len(set(titles)))


def _histogram(sizes: Iterable[int]) -> Histogram:
    return dict(sorted(Counter(sizes).items()))


def _links(threads: Sequence[Thread]) -> Links:
    links = [link for thread in threads for link in thread.links]
    return Links(
        total=len(links),
        distinct=len({link.video_id for link in links}),
        with_start=sum(link.start_s > 0 for link in links),
        most=max(len(thread.links) for thread in threads),
        threads_without=sum(not thread.links for thread in threads),
    )


def _audio(threads: Sequence[Thread]) -> Audio:
    clips = [clip for thread in threads for clip in thread.clips or ()]
    hours = sum(clip.duration_s for clip in clips) / 3600
    return Audio(len(clips), hours, sum(bool(thread.clips) for thread in threads))


def _pool_frequency(threads: Sequence[Thread]) -> Frequency:
    pools: dict[str, Counter[str]] = defaultdict(Counter)
    for thread in threads:
        pools[thread.subreddit].update(set(thread.candidates))
    counts: dict[bool, list[int]] = {True: [], False: []}
    for thread in threads:
        right = set(thread.ground_truth)
        for candidate in thread.candidates:
            counts[candidate in right].append(pools[thread.subreddit][candidate] - 1)
    return Frequency(*(mean(counts[kind]) if counts[kind] else None for kind in (True, False)))


def _chance(threads: Sequence[Thread]) -> dict[str, float]:
    nothing: list[Sequence[str] | None] = [None] * len(threads)
    hits = hits_from_strings(nothing, [t.ground_truth for t in threads], [t.candidates for t in threads])
    values = chance(hits) or {}
    return {name: float(values[name].mean()) for name in ("recall@20", "ndcg@20", "mrr")}
