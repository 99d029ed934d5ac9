"""How the names of a subreddit are dealt into the candidate pools of its threads.

Every name is given the same number of seats, so neither a common nor a rare candidate is more likely to be right; and
a name in the style that a thread asks for sits in its pool only where the thread recommends it, so no distractor is a
right answer that went unlabelled. All choices follow from hashes of names: no generator, the same everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

from .catalogue import Style


class Request(NamedTuple):
    """What dealing needs to know of a thread.

    Attributes:
        thread_id: Reddit name.
        style: Name of the style that is asked for.
        ground_truth: Names that were recommended, all of that style.
    """

    thread_id: str
    style: str
    ground_truth: tuple[str, ...]


def make_pools(styles: Sequence[Style], requests: Sequence[Request]) -> dict[str, tuple[str, ...]]:
    """Deal the names of one subreddit into the pools of its threads.

    Each name sits in two pools (in one, where the subreddit has a single thread): a recommended name in the pool of
    its own thread, and otherwise in the emptiest pools whose thread asks for another style.

    Args:
        styles: The styles of the subreddit.
        requests: Its threads.

    Returns:
        Thread id to pool, in shuffled order.
    """
    seats = min(2, len(requests))
    wanted = {request.style for request in requests}
    pools: dict[str, list[str]] = {request.thread_id: [] for request in requests}
    # Names of a style that some thread asks for have fewer pools to choose from, so they choose first.
    for style in sorted(styles, key=lambda style: style.name not in wanted):
        for name in sorted(style.names, key=_hash):
            own = [r.thread_id for r in requests if name in r.ground_truth]
            others = [r.thread_id for r in requests if r.style != style.name]
            others.sort(key=lambda thread_id: (len(pools[thread_id]), _hash(thread_id, name)))
            for thread_id in (own + others)[:seats]:
                pools[thread_id].append(name)
    return {
        thread_id: tuple(sorted(pool, key=lambda name: _hash(thread_id, name))) for thread_id, pool in pools.items()
    }


def _hash(*parts: str) -> bytes:
    return sha256("/".join(parts).encode()).digest()
