"""Assignment of threads to annotators: each thread has the same number, and a new annotator takes a share from all.

Rendezvous hashing (Thaler and Ravishankar 1998, doi:10.1109/90.663936): every annotator has a fixed pseudo-random
weight for every thread, and the heaviest get it. Annotators need not be known in advance. If annotator n+1 joins, one
thread in n+1 moves, and only threads without answers move.
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
    """Assign threads to annotators.

    Args:
        thread_ids: The threads, in the order of the work list.
        annotators: All annotators.
        overlap: Number of annotators per thread, at least 1. There may be fewer annotators.
        begun: Annotators with any answer, by thread. They keep the thread, and count towards `overlap`.
        resting: Annotators without new threads.

    Returns:
        The threads of each annotator, in the given order. They depend on the arguments alone.
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
