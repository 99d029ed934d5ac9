"""Candidate pools of the mini dataset.

Every name is in the same number of pools, so neither frequent nor rare candidates are more often relevant. A name in
the style of the query is in the pool only if the thread recommends it, so no distractor is an unlabelled relevant
title. All choices follow from hashes of names, so they are the same on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

from .catalogue import Style


class ToyThread(NamedTuple):
    """Thread of the mini dataset, as far as its pool depends on it.

    Attributes:
        thread_id: Reddit name.
        style: Name of the style of the query.
        ground_truth: Recommended names, all of that style.
    """

    thread_id: str
    style: str
    ground_truth: tuple[str, ...]


def make_pools(styles: Sequence[Style], threads: Sequence[ToyThread]) -> dict[str, tuple[str, ...]]:
    """Make the pools of one subreddit.

    Each name is in two pools, or in one if the subreddit has a single thread. A recommended name is in the pool of its
    own thread. Otherwise the emptiest pools of threads with another style take it.

    Args:
        styles: Styles of the subreddit.
        threads: Threads of the subreddit.

    Returns:
        Thread id to pool, in shuffled order.
    """
    n_pools = min(2, len(threads))
    wanted = {thread.style for thread in threads}
    pools: dict[str, list[str]] = {thread.thread_id: [] for thread in threads}
    # Names of a wanted style have fewer possible pools, so they are placed first.
    for style in sorted(styles, key=lambda style: style.name not in wanted):
        for name in sorted(style.names, key=_hash):
            own = [thread.thread_id for thread in threads if name in thread.ground_truth]
            others = [thread.thread_id for thread in threads if thread.style != style.name]
            others.sort(key=lambda thread_id: (len(pools[thread_id]), _hash(thread_id, name)))
            for thread_id in (own + others)[:n_pools]:
                pools[thread_id].append(name)
    return {
        thread_id: tuple(sorted(pool, key=lambda name: _hash(thread_id, name))) for thread_id, pool in pools.items()
    }


def _hash(*parts: str) -> bytes:
    return sha256("/".join(parts).encode()).digest()
