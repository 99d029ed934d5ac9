"""Who judges which thread: each goes to the same number of annotators, and a newcomer takes a share from everybody.

Rendezvous hashing (Thaler and Ravishankar 1998, doi:10.1109/90.663936): every annotator has a random-looking but fixed
weight for every thread, and the heaviest take it. Nobody has to be known in advance; when the (n+1)st annotator joins,
one thread in n+1 changes hands, and only among those that nobody has begun.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping


def assign(
    thread_ids: Iterable[str],
    annotators: Collection[str],
    overlap: int,
    begun: Mapping[str, Collection[str]],
    resting: Collection[str] = (),
) -> dict[str, list[str]]:
    """Give every thread to its annotators.

    Args:
        thread_ids: The threads, in the order of the work list.
        annotators: Everybody.
        overlap: How many annotators each thread is to have, at least 1; fewer where there are no more.
        begun: By thread, who has answered anything about it. They keep it, and hold one of its places each.
        resting: Annotators who get nothing new.

    Returns:
        The threads of each annotator, in the given order; a function of the arguments alone.
    """
    shares: dict[str, list[str]] = {annotator: [] for annotator in annotators}
    for thread_id in thread_ids:
        holders = [annotator for annotator in annotators if annotator in begun.get(thread_id, ())]
        free = [annotator for annotator in annotators if annotator not in holders and annotator not in resting]
        free.sort(key=lambda annotator: _weight(thread_id, annotator), reverse=True)
        for annotator in (*holders, *free[: max(0, overlap - len(holders))]):
            shares[annotator].append(thread_id)
    return shares


def _weight(thread_id: str, annotator: str) -> bytes:
    return hashlib.blake2b(f"{thread_id}\0{annotator.casefold()}".encode(), digest_size=8).digest()
