"""Design `fresh`: distractors that no thread names, each used once. It needs a corpus larger than the test set.

The labels of other threads then carry no information about a distractor. No other choice of the same titles achieves
this. A relevant title that several threads share still appears more than once, so these pools need the audit too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from musicrs_metric.errors import UserError
from musicrs_metric.matching import normalise

from ..jsonl import read_objects
from ..records import Thread
from .entities import answers_of, by_subreddit, one_spelling
from .poolset import DISTRACTORS, Corpus, Design, PoolSet, SubredditPools, Track, describe, untracked
from .seeding import generator, shuffled


def fresh_pools(
    threads: Sequence[Thread],
    corpus: Corpus,
    *,
    distractors: int = DISTRACTORS,
    seed: int = 0,
    track: Track = untracked,
) -> PoolSet:
    """Draw pools with distractors from a corpus, each used once.

    Args:
        threads: Threads with `ground_truth` and `all_entities`.
        corpus: Subreddit to titles, e.g. from `corpus_of` or `read_corpus`. Titles that replies in `threads` name are
            skipped, and so are other spellings of a title (equality under `normalise`).
        distractors: Wanted distractors per pool.
        seed: The pools are a function of the seed, the threads and the corpus.
        track: Wraps the loop over subreddits, e.g. in a progress bar.

    Returns:
        The pools. If the corpus is too small for a subreddit, all its pools get fewer, and a note reports it.

    Raises:
        UserError: The corpus has no title for a subreddit.
    """
    used = {form for thread in threads for form in answers_of(thread)}
    pools: dict[str, tuple[str, ...]] = {}
    statistics: dict[str, SubredditPools] = {}
    notes: list[str] = []
    for name, group in track(list(by_subreddit(threads).items())):
        free = [e for e in one_spelling(sorted(corpus.get(name, ()))) if normalise(e) not in used]
        each = min(distractors, len(free) // len(group))
        if not each:
            raise UserError(
                f"r/{name}: the corpus has {len(free)} titles that no thread names, expected at least one for each of "
                f"its {len(group)} threads; give a larger corpus, or use the design `balanced`"
            )
        deck = shuffled(free, generator(seed, "fresh", name))[: each * len(group)]
        used.update(map(normalise, deck))  # a title of two subreddits is used in one
        for t, thread in enumerate(group):
            relevant = list(dict.fromkeys(thread.ground_truth))
            drawn = deck[t * each : (t + 1) * each]
            pools[thread.thread_id] = shuffled([*relevant, *drawn], generator(seed, "order", thread.thread_id))
        wanted = distractors + sum(len(set(thread.ground_truth)) for thread in group) / len(group)
        rows = [pools[thread.thread_id] for thread in group]
        statistics[name] = describe(
            rows, known=len({*free, *(e for t in group for e in t.ground_truth)}), wanted=wanted
        )
        if each < distractors:
            notes.append(
                f"r/{name}: {len(free)} titles of the corpus are free, too few for {distractors} in each of "
                f"{len(group)} pools; each gets {each}"
            )
    return PoolSet(Design.FRESH, seed, {t.thread_id: pools[t.thread_id] for t in threads}, statistics, tuple(notes))


def corpus_of(threads: Iterable[Thread]) -> dict[str, list[str]]:
    """Collect the titles that replies of threads outside the test set name, by subreddit."""
    corpus: dict[str, dict[str, None]] = {}
    for thread in threads:
        corpus.setdefault(thread.subreddit, {}).update(dict.fromkeys(thread.all_entities))
    return {name: list(titles) for name, titles in corpus.items()}


def read_corpus(path: str | Path) -> dict[str, list[str]]:
    """Read a corpus from JSON lines of `{"subreddit": ..., "entity": ...}`.

    Args:
        path: The file, UTF-8.

    Returns:
        Subreddit to distinct titles.

    Raises:
        UserError: The file is missing, not UTF-8, or has a line of another form.
    """
    corpus: dict[str, dict[str, None]] = {}
    for row in read_objects(path):
        corpus.setdefault(row.string("subreddit"), {})[row.string("entity")] = None
    return {name: list(titles) for name, titles in corpus.items()}
