"""Judge rankings of a catalogue. The order of the steps is fixed: merge clusters, remove known items, cut at k.

1. Each id becomes its cluster. A cluster keeps its first rank, and later ranks close up.
2. Clusters that are known by then are removed, from the ranking and from the ground truth.
3. The measures cut the list that is left at k.

Another order gives other scores. An id that the catalogue lacks keeps its rank as a miss. A relevant item that the
catalogue lacks counts in the denominator of recall and cannot be reached. A list shorter than k counts misses.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import repeat

import numpy as np

from ..hits import Bools, Hits, Ints
from .items import Catalogue

_NOTHING, _RELEVANT, _KNOWN = 0, 1, 2


@dataclass(frozen=True)
class JudgedRankings:
    """Judged rankings of n turns.

    Attributes:
        hits: Hits after merging and removal. The pool of a turn is the catalogue without its known clusters.
        lengths: Shape (n,): clusters left in each ranking after merging and removal, unknown ids included.
    """

    hits: Hits
    lengths: Ints

    def n_short(self, depth: int) -> int:
        """Count the turns with a ranking that leaves a rank up to `depth` empty although clusters are left for it."""
        sizes = np.minimum(self.hits.pool_size, depth) if self.hits.pool_size is not None else depth
        return int(((self.lengths < sizes) & ~self.hits.missing).sum())


def judge_rankings(
    rankings: Sequence[Sequence[str] | None],
    ground_truth: Sequence[Collection[str]],
    known: Sequence[Collection[str]],
    catalogue: Catalogue,
) -> JudgedRankings:
    """Judge one ranking per turn.

    Args:
        rankings: Ids, best first; None without a prediction.
        ground_truth: Relevant ids per turn. Ids that the catalogue lacks are clusters of their own.
        known: Ids per turn that the listener knows already.
        catalogue: The items.

    Returns:
        The hits, turns in the order given.
    """
    n = len(rankings)
    longest = max((len(ranking) for ranking in rankings if ranking), default=0)
    scratch = _Scratch(catalogue, longest)
    counts: Ints = np.zeros((6, n), dtype=np.int64)
    ranks: list[Ints] = []
    for i, (ranking, relevant_ids, known_ids) in enumerate(zip(rankings, ground_truth, known, strict=True)):
        ranks_i, counts[:, i] = scratch.judge(ranking or (), relevant_ids, known_ids)
        ranks.append(ranks_i)
    thread = np.repeat(np.arange(n), [len(row) for row in ranks])
    rank = np.concatenate(ranks) if ranks else np.zeros(0, dtype=np.int64)
    missing: Bools = np.fromiter((ranking is None for ranking in rankings), dtype=bool, count=n)
    n_relevant, n_reachable, pool_size, n_unknown, n_duplicate, lengths = counts
    return JudgedRankings(
        Hits(thread, rank, n_relevant, n_reachable, pool_size, n_unknown, n_duplicate, missing), lengths
    )


class _Scratch:
    """Arrays over all clusters, used again for each turn. Cells after the last cluster are ids of no item."""

    def __init__(self, catalogue: Catalogue, longest: int) -> None:
        self.codes, self.n = catalogue.codes, catalogue.n_clusters
        self.marks = np.full(self.n + longest, _NOTHING, dtype=np.int8)
        self.first = np.zeros(self.n + longest, dtype=np.int64)
        self.order = np.arange(longest)

    def judge(
        self, ranking: Sequence[str], relevant_ids: Collection[str], known_ids: Collection[str]
    ) -> tuple[Ints, tuple[int, ...]]:
        """Return the ranks of the hits, and the counts in the order of `judge_rankings`."""
        known = {self.codes.get(item, item) for item in known_ids}
        relevant = {self.codes.get(item, item) for item in relevant_ids} - known
        known_cells = [code for code in known if isinstance(code, int)]
        relevant_cells = [code for code in relevant if isinstance(code, int)]
        sizes = (len(relevant), len(relevant_cells), self.n - len(known_cells))
        cells, n_unknown, strangers = self._cells(ranking)
        known_cells += [cell for item, cell in strangers.items() if item in known]
        self.marks[known_cells], self.marks[relevant_cells] = _KNOWN, _RELEVANT
        marks = self.marks[cells]
        self.marks[known_cells] = self.marks[relevant_cells] = _NOTHING
        # Written from the last rank to the first, a cell holds the first rank of its cluster.
        order = self.order[: len(cells)]
        self.first[cells[::-1]] = order[::-1]
        is_first = self.first[cells] == order
        marks = marks[is_first]
        marks = marks[marks != _KNOWN]
        n_duplicate = len(cells) - int(np.count_nonzero(is_first))
        return np.flatnonzero(marks == _RELEVANT) + 1, (*sizes, n_unknown, n_duplicate, len(marks))

    def _cells(self, ranking: Sequence[str]) -> tuple[Ints, int, dict[str, int]]:
        cells = np.fromiter(map(self.codes.get, ranking, repeat(-1)), dtype=np.int64, count=len(ranking))
        positions = np.flatnonzero(cells < 0)
        strangers: dict[str, int] = {}
        for position in positions.tolist():
            cells[position] = strangers.setdefault(ranking[position], self.n + len(strangers))
        return cells, len(positions), strangers
