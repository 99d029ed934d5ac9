"""Design `grouped`: distractors are whole ground truths of other threads, each in equally many pools.

In a pool of random distractors, the relevant candidates resemble each other, because one thread names them. A system
that sees the whole pool can find them without the query. Here the distractors of a pool come in sets, too. Each set is
the ground truth of a thread of the subreddit, and is in exactly c pools: its own, and c - 1 others. No pool holds two
sets that share a title. A title of m ground truths is then in exactly m * c pools, and relevant in m of them. So
neither counts of titles nor likeness between candidates shows which set is relevant.

Nearly all distractors are relevant elsewhere. A system that reads labels finds the rest at once, so this design is for
systems that read none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from musicrs_metric.errors import UserError
from musicrs_metric.matching import normalise

from ..records import Thread
from .entities import answers_of, by_subreddit
from .poolset import DISTRACTORS, Design, PoolSet, SubredditPools, Track, describe, untracked
from .seeding import generator, shuffled

# Random exchanges per place of a set in a pool: to mix the pools, and at most to remove all clashes afterwards.
_MIXING, _REPAIRING = 10, 100


@dataclass(frozen=True)
class _Sets:
    """Ground truths of one subreddit. Set and pool `i` belong to thread `i`.

    Attributes:
        titles: Distinct titles of each set. Threads without ground truth have an empty one, which is never placed.
        barred: Shape (n, n): a reply of the thread of the pool (column) names a title of the set (row).
        clash: Shape (n, n): two sets share a title.
        limit: Largest number of candidates of a pool.
    """

    titles: Sequence[tuple[str, ...]]
    barred: npt.NDArray[np.bool_]
    clash: npt.NDArray[np.bool_]
    limit: int

    @property
    def placed(self) -> list[int]:
        """Sets that have a title."""
        return [i for i, titles in enumerate(self.titles) if titles]

    def largest_count(self) -> int:
        """Return the largest number of pools per set that these sets may allow."""
        placed = self.placed
        if not placed:
            return 0
        sizes = [len(self.titles[i]) for i in placed]
        # Sets of different sizes need room, without which hardly any choice keeps every pool within the limit.
        room = min(sum(sizes) / len(sizes), max(sizes) - min(sizes)) / 2
        by_size = int((self.limit - room) * len(self.titles) / sum(sizes))
        return min(by_size, 1 + int((~self.barred[placed]).sum(axis=1).min()))


def grouped_pools(
    threads: Sequence[Thread], *, distractors: int = DISTRACTORS, seed: int = 0, track: Track = untracked
) -> PoolSet:
    """Draw pools of whole ground truths of threads of the subreddit.

    A set is not used in the pool of a thread whose replies name one of its titles (equality under `normalise`). A
    thread without ground truth gets a pool too.

    Args:
        threads: Threads with `ground_truth` and `all_entities`.
        distractors: Largest number of distractors of the pool with the largest ground truth. Other pools of the
            subreddit hold at most as many candidates as that pool.
        seed: The pools are a function of the seed and the threads. A subreddit does not depend on the others.
        track: Wraps the loop over subreddits, e.g. in a progress bar.

    Returns:
        The pools. `count` is the number of pools of each set, in which it is relevant once. A note names each subreddit
        whose pools hold less than three quarters of the wanted candidates.

    Raises:
        UserError: A subreddit allows no such pools. All subreddits are checked before the first draw.
    """
    groups = by_subreddit(threads)
    sets = {name: _sets(group, distractors) for name, group in groups.items()}
    for name, group in groups.items():
        _check(name, group, sets[name])
    pools: dict[str, tuple[str, ...]] = {}
    statistics: dict[str, SubredditPools] = {}
    notes: list[str] = []
    for name, group in track(list(groups.items())):
        count, members = _draw(name, sets[name], seed)
        for thread, own in zip(group, members, strict=True):
            pool = [title for i in own for title in sets[name].titles[i]]
            pools[thread.thread_id] = shuffled(pool, generator(seed, "order", thread.thread_id))
        wanted = distractors + sum(map(len, sets[name].titles)) / len(group)
        known = len({title for titles in sets[name].titles for title in titles})
        statistics[name] = describe((pools[t.thread_id] for t in group), known=known, wanted=wanted, count=count)
        mean = sum(len(pools[thread.thread_id]) for thread in group) / len(group)
        if mean < 0.75 * wanted:
            notes.append(
                f"r/{name}: its {len(sets[name].placed)} ground truths give pools of "
                f"{statistics[name].size[0]} to {statistics[name].size[1]} candidates, not {wanted:.0f}; each ground "
                f"truth is in {count} pools"
            )
    return PoolSet(Design.GROUPED, seed, {t.thread_id: pools[t.thread_id] for t in threads}, statistics, tuple(notes))


def _sets(group: Sequence[Thread], distractors: int) -> _Sets:
    titles = [tuple(dict.fromkeys(thread.ground_truth)) for thread in group]
    forms = [frozenset(map(normalise, own)) for own in titles]
    named = [answers_of(thread) for thread in group]
    barred = np.array([[i == j or bool(own & other) for j, other in enumerate(named)] for i, own in enumerate(forms)])
    clash = np.array([[i != j and bool(own & other) for j, other in enumerate(forms)] for i, own in enumerate(forms)])
    return _Sets(titles, barred, clash, distractors + max(map(len, titles)))


def _check(name: str, group: Sequence[Thread], sets: _Sets) -> None:
    """Refuse a subreddit in which no set can be in a second pool."""
    placed, count = sets.placed, sets.largest_count()
    if len(placed) >= 2 and count >= 2 and (count - 1) * len(placed) >= len(group):
        return
    alone = [group[i].thread_id for i in placed if sets.barred[i].all()]
    if len(placed) < 2 or count >= 2:
        fault = f"{len(placed)} of its {len(group)} threads have a ground truth, which is too few to fill all pools"
    elif alone:
        fault = f"the replies of every other thread name a title of the ground truth of thread {alone[0]}"
    else:
        fault = f"no second ground truth fits into {sets.limit} candidates; raise the number of distractors"
    raise UserError(f"r/{name}: allows no pools of whole ground truths, because {fault}; or use the design `balanced`")


def _draw(name: str, sets: _Sets, seed: int) -> tuple[int, list[list[int]]]:
    """Return the number of pools per set, and the sets of each pool."""
    for count in range(sets.largest_count(), 1, -1):
        members = _Exchange(sets, count, generator(seed, "grouped", name)).run()
        if members is not None:
            return count, members
    raise UserError(
        f"r/{name}: found no pools of whole ground truths in which each is in two or more and no two share a title; "
        "use the design `balanced`"
    )


class _Exchange:
    """Random exchanges of sets between pools. Each keeps the number of pools per set."""

    def __init__(self, sets: _Sets, count: int, rng: np.random.Generator) -> None:
        self._sets, self._rng = sets, rng
        self._size = [len(titles) for titles in sets.titles]
        self._barred = sets.barred.tolist()
        self._clashing = [set(np.flatnonzero(row).tolist()) for row in sets.clash]
        self._others: list[list[int]] = [[] for _ in self._size]
        # Each set goes into the pools with the fewest sets, so the numbers are right from the start.
        for i in rng.permutation(sets.placed).tolist():
            pools = [pool for pool in rng.permutation(len(self._size)).tolist() if pool != i]
            for pool in sorted(pools, key=lambda pool: len(self._others[pool]))[: count - 1]:
                self._others[pool].append(i)

    def run(self) -> list[list[int]] | None:
        """Return the sets of each pool, its own first. None if clashes remain, or a pool has no distractor."""
        if not all(self._others):
            return None
        n_places = sum(map(len, self._others))
        self._mix(_MIXING * n_places)
        if not self._repair(_REPAIRING * n_places):
            return None
        return [[i] * bool(self._size[i]) + others for i, others in enumerate(self._others)]

    def _mix(self, n: int) -> None:
        pools = range(len(self._others))
        for draw in self._rng.random((n, 4)).tolist():
            exchange = self._drawn(pools, draw)
            if exchange:
                p, i, q, j = exchange
                self._others[p][i], self._others[q][j] = self._others[q][j], self._others[p][i]

    def _repair(self, n: int) -> bool:
        """Exchange where the number of clashes does not grow. Return True if none is left."""
        costs = [self._cost(pool, others) for pool, others in enumerate(self._others)]
        faulty = [pool for pool, cost in enumerate(costs) if cost]
        for draw in self._rng.random((n if faulty else 0, 4)).tolist():
            exchange = self._drawn(faulty, draw) or self._moved(faulty, draw)
            if not exchange:
                continue
            p, i, q, j = exchange
            new_p, new_q = self._others[p].copy(), self._others[q].copy()
            if j is None:
                new_q.append(new_p.pop(i))
            else:
                new_p[i], new_q[j] = new_q[j], new_p[i]
            cost_p, cost_q = self._cost(p, new_p), self._cost(q, new_q)
            if cost_p + cost_q > costs[p] + costs[q]:
                continue
            self._others[p], self._others[q], costs[p], costs[q] = new_p, new_q, cost_p, cost_q
            faulty = [pool for pool, cost in enumerate(costs) if cost]
            if not faulty:
                break
        return not faulty

    def _drawn(self, pools: Sequence[int], draw: Sequence[float]) -> tuple[int, int, int, int] | None:
        """Draw a set of one of these pools, and a set of any pool. None if they cannot change places."""
        p, q = pools[int(draw[0] * len(pools))], int(draw[1] * len(self._others))
        ours, theirs = self._others[p], self._others[q]
        if p == q or not ours or not theirs:
            return None
        i, j = int(draw[2] * len(ours)), int(draw[3] * len(theirs))
        a, b = ours[i], theirs[j]
        return None if a == q or b == p or a in theirs or b in ours else (p, i, q, j)

    def _moved(self, pools: Sequence[int], draw: Sequence[float]) -> tuple[int, int, int, None] | None:
        """Draw a set of one of these pools, and another pool. None if the set cannot go there."""
        p, q = pools[int(draw[0] * len(pools))], int(draw[1] * len(self._others))
        ours = self._others[p]
        i = int(draw[2] * len(ours))
        return None if p == q or len(ours) < 2 or ours[i] == q or ours[i] in self._others[q] else (p, i, q, None)

    def _cost(self, pool: int, others: list[int]) -> int:
        """Count clashes of a pool, and candidates above the limit."""
        own = set(others)
        barred = sum(self._barred[i][pool] for i in others)
        clashes = sum(len(own & self._clashing[i]) for i in others) // 2
        total: int = barred + clashes + max(0, self._size[pool] + sum(self._size[i] for i in others) - self._sets.limit)
        return total
