"""Design `paper`, the published recipe: the ground truth and 90 random titles of the same subreddit, shuffled.

Its pools leak by construction. A relevant title is in the pool of its own thread, and is drawn for other threads too.
Frequent titles are therefore more often distractors, and the adversary "rare first" of the audit is above chance
without the query. Use this design to extend the published benchmark. For new benchmarks, `balanced` and `fresh` are
better.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..records import Thread
from .entities import by_subreddit, entities_of
from .poolset import DISTRACTORS, Design, PoolSet, SubredditPools, Track, describe, untracked
from .seeding import generator, shuffled


def paper_pools(
    threads: Sequence[Thread], *, distractors: int = DISTRACTORS, seed: int = 0, track: Track = untracked
) -> PoolSet:
    """Draw pools by the recipe of the paper (§3): ground truth plus random titles of the same subreddit.

    Args:
        threads: Threads with `ground_truth` (the up to 10 most upvoted) and `all_entities`.
        distractors: Random titles per pool, drawn uniformly from the distinct titles of the subreddit without the
            thread's ground truth. As in the published file, a title that the thread's replies name may be among them.
        seed: The pools are a function of the seed and the threads. The draw of a thread depends on its subreddit alone.
        track: Wraps the loop over subreddits, e.g. in a progress bar.

    Returns:
        The pools. A subreddit with too few titles uses all of them, and a note reports it.
    """
    pools: dict[str, tuple[str, ...]] = {}
    statistics: dict[str, SubredditPools] = {}
    notes: list[str] = []
    for name, group in track(list(by_subreddit(threads).items())):
        entities = entities_of(group)
        for thread in group:
            rng = generator(seed, "paper", thread.thread_id)
            relevant = list(dict.fromkeys(thread.ground_truth))
            others = [entity for entity in entities if entity not in set(relevant)]
            drawn = rng.permutation(len(others))[:distractors]
            pools[thread.thread_id] = shuffled(relevant + [others[i] for i in drawn], rng)
        wanted = distractors + sum(len(set(thread.ground_truth)) for thread in group) / len(group)
        statistics[name] = describe((pools[t.thread_id] for t in group), known=len(entities), wanted=wanted)
        if len(entities) < wanted:
            notes.append(
                f"r/{name}: {len(entities)} titles are too few for {wanted:.0f} candidates per pool; "
                f"its pools hold {statistics[name].size[0]} to {statistics[name].size[1]}"
            )
    return PoolSet(Design.PAPER, seed, {t.thread_id: pools[t.thread_id] for t in threads}, statistics, tuple(notes))
