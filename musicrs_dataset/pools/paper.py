"""The published recipe, for new data: the ground truth and 90 random titles of the same subreddit, shuffled.

Its pools leak by construction. A title that is somebody's answer stands in that thread's pool and is drawn for others
besides, so what is frequent in the pools is more likely a distractor, and what the audit calls "rare first" beats
chance without looking at the query. It is here to extend the published benchmark as it is; for new benchmarks
`balanced` and `fresh` are better.
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
            thread's ground truth. As in the published file, another right answer of the thread may be among them.
        seed: The pools are a function of the seed and the threads; a thread's draw depends on its own subreddit alone.
        track: Wraps the loop over subreddits, e.g. in a progress bar.

    Returns:
        The pools; a subreddit with too few titles gets all it has, and a note says so.
    """
    pools: dict[str, tuple[str, ...]] = {}
    told: dict[str, SubredditPools] = {}
    notes: list[str] = []
    for name, group in track(list(by_subreddit(threads).items())):
        entities = entities_of(group)
        for thread in group:
            rng = generator(seed, "paper", thread.thread_id)
            right = list(dict.fromkeys(thread.ground_truth))
            others = [entity for entity in entities if entity not in set(right)]
            drawn = rng.permutation(len(others))[:distractors]
            pools[thread.thread_id] = shuffled(right + [others[i] for i in drawn], rng)
        wanted = distractors + sum(len(set(thread.ground_truth)) for thread in group) / len(group)
        told[name] = describe((pools[t.thread_id] for t in group), known=len(entities), wanted=wanted)
        if len(entities) < wanted:
            notes.append(
                f"r/{name}: {len(entities)} titles are too few for {wanted:.0f} candidates a pool; "
                f"its pools hold {told[name].size[0]} to {told[name].size[1]}"
            )
    return PoolSet(Design.PAPER, seed, {t.thread_id: pools[t.thread_id] for t in threads}, told, tuple(notes))
