"""Statistics of a dataset: the counts of the paper's tables, and the chance level of its pools."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from statistics import mean, median
from typing import Any

from musicrs_metric.base.genres import GENRES, MACRO_COLUMN, macro_of, macros_in_order
from musicrs_metric.chance import chance
from musicrs_metric.hits import hits_from_strings
from musicrs_metric.runs.references import fingerprint

from .records import Thread

Histogram = dict[int, int]


@dataclass(frozen=True)
class Titles:
    """Occurrences of titles, and number of distinct titles (exact strings)."""

    total: int
    distinct: int


@dataclass(frozen=True)
class Share:
    """Number of threads of a group; `share` of all threads, in [0, 1]."""

    threads: int
    share: float


@dataclass(frozen=True)
class Links:
    """Links to videos.

    Attributes:
        total: Number of links.
        distinct: Number of distinct videos.
        with_start: Links that start after 0 s.
        most: Largest number of links in a thread.
        threads_without: Threads without a link.
    """

    total: int
    distinct: int
    with_start: int
    most: int
    threads_without: int


@dataclass(frozen=True)
class Audio:
    """Number of clips, their total length in hours, and the number of threads with at least one clip."""

    clips: int
    hours: float
    threads: int


@dataclass(frozen=True)
class Frequency:
    """Mean number of other pools of the subreddit that contain a candidate.

    `right` is the mean over relevant candidates, `wrong` the mean over distractors.
    If the two differ, counts of titles in the pools move a score away from chance without any music. None if there is
    nothing to average.
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
        macro_genres: The same for MM (mainstream), IM (instrumental), AE (alternative and electronic), then others.
        subreddits: The same for subreddits, largest first.
        candidates: Candidates of the pools.
        ground_truth: Relevant candidates.
        all_entities: Entities that the replies name.
        comments: Number of replies.
        pool_sizes: Candidates per pool to number of threads.
        ground_truth_sizes: Relevant candidates per thread to number of threads.
        query_words: Median and largest number of words of a query; None without queries.
        links: Links to videos.
        link_statuses: Status of links (see `records.Link`) to number of links.
        audio: Clips.
        pool_frequency: Frequency of relevant candidates and distractors in the pools.
        chance: Measure to exact expectation of a random ranking, all threads averaged; in [0, 1].
        stated_macro_genres: Genre to macro-genre, if the dataset states macro-genres of its own; else empty.
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
    stated_macro_genres: dict[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types, without macro-genres if the dataset states none."""
        values = asdict(self)
        if not self.stated_macro_genres:
            del values["stated_macro_genres"]
        return values


def describe(threads: Sequence[Thread]) -> Description:
    """Compute the statistics of a dataset.

    Args:
        threads: Threads of the dataset, at least one; the bytes of clips are not read.

    Returns:
        The statistics.

    Raises:
        ValueError: `threads` is empty.
    """
    if not threads:
        raise ValueError("no threads to describe: found 0, expected at least 1")
    subreddits = Counter(thread.subreddit for thread in threads)
    stated = {t.genre: label for t in threads if (label := dict(t.columns).get(MACRO_COLUMN))}
    macros = [macro_of(t.genre, dict(t.columns).get(MACRO_COLUMN)) for t in threads]
    words = [len(thread.query.split()) for thread in threads if thread.query]
    return Description(
        threads=len(threads),
        fingerprint=fingerprint((t.thread_id, t.candidates, t.ground_truth) for t in threads),
        genres=_shares([t.genre for t in threads], order=GENRES),
        macro_genres=_shares(macros, order=macros_in_order(macros)),
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
        stated_macro_genres=stated,
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
        relevant = set(thread.ground_truth)
        for candidate in thread.candidates:
            counts[candidate in relevant].append(pools[thread.subreddit][candidate] - 1)
    return Frequency(*(mean(counts[kind]) if counts[kind] else None for kind in (True, False)))


def _chance(threads: Sequence[Thread]) -> dict[str, float]:
    no_rankings: list[Sequence[str] | None] = [None] * len(threads)
    hits = hits_from_strings(no_rankings, [t.ground_truth for t in threads], [t.candidates for t in threads])
    values = chance(hits) or {}
    return {name: float(values[name].mean()) for name in ("recall@20", "ndcg@20", "mrr")}
