"""The systems of a comparison, the threads each of them really answered, and the common ground of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..runs.filled_scores import FilledScores
from ..runs.run_card import Reads
from ..scoring import ThreadTable
from .results import Coverage

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class System:
    """A system to compare.

    Attributes:
        name: What tables call it; no two systems of a comparison share a name.
        table: Its values for n threads, the same threads in the same order for every system.
        reads: What it looks at beyond its own thread; None where nobody said. Ranks are formed within it.
        no_audio: Shape (n,): threads for which it had no audio; None where it uses none, or nobody said.
        filled: What was appended to its answers; None where its predictions do not say.
    """

    name: str
    table: ThreadTable
    reads: Reads | None = None
    no_audio: Mask | None = None
    filled: FilledScores | None = None

    @property
    def covered(self) -> Mask:
        """Shape (n,): threads with a prediction and, where the system listens, with audio."""
        answered = ~self.table.hits.missing
        return answered if self.no_audio is None else answered & ~self.no_audio


def check_systems(systems: Sequence[System]) -> None:
    """Refuse systems that cannot be paired thread by thread.

    Args:
        systems: Two or more.

    Raises:
        ValueError: Fewer than two systems, two of one name, or tables that are not over the same threads.
    """
    if len(systems) < 2:
        raise ValueError(f"found {len(systems)} system(s) to compare, expected at least 2")
    names = [system.name for system in systems]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"two systems are called {twice!r}; give each a name of its own")
    first = systems[0]
    for other in systems[1:]:
        if not _same_threads(first.table, other.table):
            raise ValueError(
                f"{first.name!r} and {other.name!r} are not over the same threads: numbers of threads, relevant items "
                "or candidates differ; score both against one dataset"
            )


def _same_threads(first: ThreadTable, other: ThreadTable) -> bool:
    a, b = first.hits, other.hits
    if (a.pool_size is None) != (b.pool_size is None) or not np.array_equal(a.n_relevant, b.n_relevant):
        return False
    return a.pool_size is None or b.pool_size is None or np.array_equal(a.pool_size, b.pool_size)


def common_threads(systems: Sequence[System]) -> Mask:
    """Shape (n,): threads that every system answered, with audio where it listens."""
    common: Mask = np.logical_and.reduce([system.covered for system in systems])
    return common


def are_copies(a: System, b: System) -> bool:
    """Whether two systems found a relevant candidate in every thread, and all of them at the same ranks.

    Copies of one file do so. Their difference is 0 on any threads, so its interval is a point.
    """
    first, second = a.table.hits, b.table.hits
    if not np.array_equal(first.thread, second.thread) or not np.array_equal(first.rank, second.rank):
        return False
    return len(np.unique(first.thread)) == np.count_nonzero(first.n_reachable)


def coverage(system: System, counted: Mask) -> Coverage:
    """Count what a system answered among the threads `counted`, shape (n,)."""
    no_audio = 0 if system.no_audio is None else int((system.no_audio & counted).sum())
    n_missing = int((system.table.hits.missing & counted).sum())
    filled = None if system.filled is None else system.filled.filled
    return Coverage(system.name, int(counted.sum()), n_missing, no_audio, filled)
