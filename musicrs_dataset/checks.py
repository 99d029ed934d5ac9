"""What is wrong with a set of threads, and what is merely odd about it: each finding by name, count and thread."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from musicrs_metric.base.genres import genre_fault
from musicrs_metric.matching import normalise

from .records import Thread
from .youtube import damage

Count = Callable[[Thread], int]


@dataclass(frozen=True)
class Finding:
    """Something that was found in some threads or files.

    Attributes:
        name: Its short name.
        what: Its meaning, in words.
        count: How often it was found, over all threads.
        where: Ids of the threads it was found in, in dataset order; or names of files.
    """

    name: str
    what: str
    count: int
    where: tuple[str, ...]


def invalid_rows(threads: Sequence[Thread]) -> list[Finding]:
    """Find what makes a dataset unusable.

    Args:
        threads: The threads, in dataset order.

    Returns:
        One finding per kind that occurs; none for a valid dataset.
    """
    seen = Counter(thread.thread_id for thread in threads)
    kinds: list[tuple[str, str, Count]] = [
        ("duplicate_id", "thread ids that stand more than once", lambda t: seen[t.thread_id] > 1),
        ("no_id", "threads without an id", lambda t: not t.thread_id),
        (
            "unknown_genre",
            "threads without a genre, or with one of the benchmark's in another spelling",
            lambda t: bool(genre_fault(t.genre)),
        ),
        ("empty_pool", "pools without a candidate", lambda t: not t.candidates),
        ("repeated_candidate", "candidates that stand twice in a pool", lambda t: _repeats(t.candidates)),
        (
            "blank_candidate",
            "candidates that match nothing",
            lambda t: sum(not normalise(c).strip() for c in t.candidates),
        ),
        ("repeated_ground_truth", "right answers that stand twice", lambda t: _repeats(t.ground_truth)),
        (
            "ground_truth_outside_pool",
            "right answers that their pool lacks",
            lambda t: len(set(t.ground_truth) - set(t.candidates)),
        ),
    ]
    return list(_found(threads, kinds))


def suspicious_rows(threads: Sequence[Thread]) -> list[Finding]:
    """Find what a reader of scores should know, though nothing is broken.

    Args:
        threads: The threads, in dataset order.

    Returns:
        One finding per kind that occurs.
    """
    usual = Counter(len(thread.candidates) for thread in threads).most_common(1)
    size = usual[0][0] if usual else 0
    threads_of: dict[str, set[str]] = defaultdict(set)
    for thread in threads:
        for link in thread.links:
            threads_of[link.video_id].add(thread.thread_id)
    shared = {video for video, names in threads_of.items() if len(names) > 1}
    kinds: list[tuple[str, str, Count]] = [
        ("empty_ground_truth", "threads in which nothing counts as right", lambda t: not t.ground_truth),
        ("uneven_pool", f"pools of another size than the usual {size}", lambda t: len(t.candidates) != size),
        ("collision", "candidates that equal another one of their pool after normalisation", _collisions),
        (
            "leftover_true_entity",
            "wrong answers that the replies did recommend (equal after normalisation)",
            lambda t: len(leftover_entities(t)),
        ),
        (
            "asked_entity_in_pool",
            "candidates that the asker named already",
            lambda t: len(set(t.submission_entities) & set(t.candidates)),
        ),
        ("no_link", "threads without a link to a video", lambda t: not t.links),
        ("repaired_link", "links that were damaged and are repaired", lambda t: sum(map(bool, _damages(t)))),
        ("repeated_video", "videos linked twice in one thread", lambda t: _repeats([k.video_id for k in t.links])),
    ]
    findings = list(_found(threads, kinds))
    linked = tuple(t.thread_id for t in threads if any(link.video_id in shared for link in t.links))
    if shared:
        findings.append(Finding("shared_video", "videos linked by several threads", len(shared), linked))
    return findings


def missing_audio(threads: Sequence[Thread]) -> list[Finding]:
    """Find the threads without a single clip, where clips are expected."""
    return list(_found(threads, [("no_audio", "threads without a clip", lambda t: not t.clips)]))


def leftover_entities(thread: Thread) -> list[str]:
    """Find the candidates that count as wrong although the replies recommend them.

    Args:
        thread: A thread with its entity list.

    Returns:
        Entities of the replies, one per normal form, that stand in the pool and not in the ground truth; equality
        after normalisation.
    """
    right = {normalise(item) for item in thread.ground_truth}
    pool = {normalise(item) for item in thread.candidates}
    forms = {normalise(item): item for item in reversed(thread.all_entities)}
    return [item for form, item in forms.items() if form in pool and form not in right]


def _found(threads: Sequence[Thread], kinds: Iterable[tuple[str, str, Count]]) -> Iterator[Finding]:
    for name, what, count in kinds:
        counts = {thread.thread_id: 0 for thread in threads}
        for thread in threads:
            counts[thread.thread_id] += int(count(thread))
        hit = tuple(thread_id for thread_id, n in counts.items() if n)
        if hit:
            yield Finding(name, what, sum(counts.values()), hit)


def _collisions(thread: Thread) -> int:
    return _repeats([normalise(candidate) for candidate in thread.candidates])


def _damages(thread: Thread) -> list[str | None]:
    return [damage(link.url) for link in thread.links]


def _repeats(items: Sequence[str]) -> int:
    return len(items) - len(set(items))
