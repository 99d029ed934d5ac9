"""Check threads for invalid and suspicious rows. Each finding has a name, a count and its threads."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from musicrs_metric.base.genres import MACRO_COLUMN, genre_fault, macro_of
from musicrs_metric.matching import normalise

from .records import Thread
from .youtube import damage

Count = Callable[[Thread], int]


@dataclass(frozen=True)
class Finding:
    """Fault or suspicious property of some threads or files.

    Attributes:
        name: Short name.
        what: Description.
        count: Number of occurrences over all threads.
        where: Ids of the threads concerned, in dataset order; or names of files.
    """

    name: str
    what: str
    count: int
    where: tuple[str, ...]


def invalid_rows(threads: Sequence[Thread]) -> list[Finding]:
    """Find the rows that make a dataset unusable.

    Args:
        threads: The threads, in dataset order.

    Returns:
        One finding per kind that occurs; none for a valid dataset.
    """
    seen = Counter(thread.thread_id for thread in threads)
    kinds: list[tuple[str, str, Count]] = [
        ("duplicate_id", "thread ids that appear more than once", lambda t: seen[t.thread_id] > 1),
        ("no_id", "threads without an id", lambda t: not t.thread_id),
        (
            "unknown_genre",
            "threads without a genre, or with a benchmark genre in another spelling",
            lambda t: bool(genre_fault(t.genre)),
        ),
        ("empty_pool", "pools without a candidate", lambda t: not t.candidates),
        ("repeated_candidate", "candidates that appear twice in a pool", lambda t: _repeats(t.candidates)),
        (
            "blank_candidate",
            "candidates that match nothing",
            lambda t: sum(not normalise(c).strip() for c in t.candidates),
        ),
        ("repeated_ground_truth", "ground truth candidates that appear twice", lambda t: _repeats(t.ground_truth)),
        (
            "ground_truth_outside_pool",
            "ground truth candidates that their pool lacks",
            lambda t: len(set(t.ground_truth) - set(t.candidates)),
        ),
    ]
    return list(_findings(threads, kinds))


def suspicious_rows(threads: Sequence[Thread]) -> list[Finding]:
    """Find suspicious rows that readers of scores should know, although the dataset is usable.

    Args:
        threads: The threads, in dataset order.

    Returns:
        One finding per kind that occurs.
    """
    sizes = Counter(len(thread.candidates) for thread in threads).most_common(1)
    size = sizes[0][0] if sizes else 0
    threads_of: dict[str, set[str]] = defaultdict(set)
    for thread in threads:
        for link in thread.links:
            threads_of[link.video_id].add(thread.thread_id)
    macros: dict[str, set[str]] = defaultdict(set)
    for thread in threads:
        macros[thread.genre].add(macro_of(thread.genre, dict(thread.columns).get(MACRO_COLUMN)))
    shared = {video for video, names in threads_of.items() if len(names) > 1}
    kinds: list[tuple[str, str, Count]] = [
        ("empty_ground_truth", "threads with an empty ground truth", lambda t: not t.ground_truth),
        ("uneven_pool", f"pools of another size than the most frequent {size}", lambda t: len(t.candidates) != size),
        ("collision", "candidates that equal another candidate of their pool after normalisation", _collisions),
        (
            "leftover_true_entity",
            "distractors that the replies recommend (equal after normalisation)",
            lambda t: len(leftover_entities(t)),
        ),
        (
            "asked_entity_in_pool",
            "candidates that the post names",
            lambda t: len(set(t.submission_entities) & set(t.candidates)),
        ),
        (
            "several_macro_genres",
            "threads of a genre that has several macro-genres (column `macro_genre`)",
            lambda t: len(macros[t.genre]) > 1,
        ),
        ("no_link", "threads without a link to a video", lambda t: not t.links),
        ("repaired_link", "repaired links", lambda t: sum(map(bool, _damages(t)))),
        ("repeated_video", "videos linked twice in one thread", lambda t: _repeats([k.video_id for k in t.links])),
    ]
    findings = list(_findings(threads, kinds))
    linked = tuple(t.thread_id for t in threads if any(link.video_id in shared for link in t.links))
    if shared:
        findings.append(Finding("shared_video", "videos linked by several threads", len(shared), linked))
    return findings


def missing_audio(threads: Sequence[Thread]) -> list[Finding]:
    """Find the threads without a clip in a configuration with audio."""
    return list(_findings(threads, [("no_audio", "threads without a clip", lambda t: not t.clips)]))


def leftover_entities(thread: Thread) -> list[str]:
    """Find the distractors that the thread's replies recommend.

    Args:
        thread: A thread with its entity list.

    Returns:
        Entities of the replies, one per normal form, that are in the pool and not in the ground truth; equality after
        normalisation.
    """
    relevant = {normalise(item) for item in thread.ground_truth}
    pool = {normalise(item) for item in thread.candidates}
    forms = {normalise(item): item for item in reversed(thread.all_entities)}
    return [item for form, item in forms.items() if form in pool and form not in relevant]


def _findings(threads: Sequence[Thread], kinds: Iterable[tuple[str, str, Count]]) -> Iterator[Finding]:
    for name, what, count in kinds:
        counts = {thread.thread_id: 0 for thread in threads}
        for thread in threads:
            counts[thread.thread_id] += int(count(thread))
        where = tuple(thread_id for thread_id, n in counts.items() if n)
        if where:
            yield Finding(name, what, sum(counts.values()), where)


def _collisions(thread: Thread) -> int:
    return _repeats([normalise(candidate) for candidate in thread.candidates])


def _damages(thread: Thread) -> list[str | None]:
    return [damage(link.url) for link in thread.links]


def _repeats(items: Sequence[str]) -> int:
    return len(items) - len(set(items))
