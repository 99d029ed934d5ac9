"""Pools whose distractors are nobody's answer and appear once: for a corpus larger than the test set.

The labels of other threads then say nothing about a distractor, which no recount of the same titles can bring about.
An answer that several threads share still appears more than once, so the audit is run on these pools as on any.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from musicrs_metric.errors import UserError
from musicrs_metric.matching import normalise

from ..jsonl import read_objects
from ..records import Thread
from .entities import answers_of, by_subreddit, one_spelling
from .poolset import DISTRACTORS, Design, PoolSet, SubredditPools, Track, describe, untracked
from .seeding import generator, shuffled

Corpus = Mapping[str, Sequence[str]]


def fresh_pools(
    threads: Sequence[Thread],
    corpus: Corpus,
    *,
    distractors: int = DISTRACTORS,
    seed: int = 0,
    track: Track = untracked,
) -> PoolSet:
    """Draw pools with distractors from outside, each of them used once.

    Args:
        threads: Threads with `ground_truth` and `all_entities`.
        corpus: Subreddit to titles, e.g. from `corpus_of` or `read_corpus`. A title that any of `threads` names in its
            replies is passed over, and so is a further spelling of a title (equality under `normalise`).
        distractors: Wanted distractors per pool.
        seed: The pools are a function of the seed, the threads and the corpus.
        track: Wraps the loop over subreddits, e.g. in a progress bar.

    Returns:
        The pools; where the corpus is too small for a subreddit, all its pools get fewer and a note says so.

    Raises:
        UserError: The corpus has nothing for a subreddit.
    """
    taken = {form for thread in threads for form in answers_of(thread)}
    pools: dict[str, tuple[str, ...]] = {}
    told: dict[str, SubredditPools] = {}
    notes: list[str] = []
    for name, group in track(list(by_subreddit(threads).items())):
        free = [e for e in one_spelling(sorted(corpus.get(name, ()))) if normalise(e) not in taken]
        each = min(distractors, len(free) // len(group))
        if not each:
            raise UserError(
                f"r/{name}: the corpus has {len(free)} titles that are nobody's answer, expected at least one for each "
                f"of its {len(group)} threads; give a larger corpus, or use the design `balanced`"
            )
        deck = shuffled(free, generator(seed, "fresh", name))[: each * len(group)]
        taken.update(map(normalise, deck))  # a title of two subreddits is used in one
        for t, thread in enumerate(group):
            right = list(dict.fromkeys(thread.ground_truth))
            dealt = deck[t * each : (t + 1) * each]
            pools[thread.thread_id] = shuffled([*right, *dealt], generator(seed, "order", thread.thread_id))
        wanted = distractors + sum(len(set(thread.ground_truth)) for thread in group) / len(group)
        rows = [pools[thread.thread_id] for thread in group]
        told[name] = describe(rows, known=len({*free, *(e for t in group for e in t.ground_truth)}), wanted=wanted)
        if each < distractors:
            notes.append(
                f"r/{name}: {len(free)} titles of the corpus are free, too few for {distractors} in each of "
                f"{len(group)} pools; each gets {each}"
            )
    return PoolSet(Design.FRESH, seed, {t.thread_id: pools[t.thread_id] for t in threads}, told, tuple(notes))


def corpus_of(threads: Iterable[Thread]) -> dict[str, list[str]]:
    """Take the titles that threads outside the test set name in their replies as a corpus."""
    corpus: dict[str, dict[str, None]] = {}
    for thread in threads:
        corpus.setdefault(thread.subreddit, {}).update(dict.fromkeys(thread.all_entities))
    return {name: list(titles) for name, titles in corpus.items()}


def read_corpus(path: str | Path) -> dict[str, list[str]]:
    """Read a corpus from JSON lines of `{"subreddit": ..., "entity": ...}`.

    Args:
        path: The file.

    Returns:
        Subreddit to titles, without exact repeats.

    Raises:
        UserError: The file is missing, not UTF-8, or has a line of another form.
    """
    corpus: dict[str, dict[str, None]] = {}
    for row in read_objects(path):
        corpus.setdefault(row.string("subreddit"), {})[row.string("entity")] = None
    return {name: list(titles) for name, titles in corpus.items()}
