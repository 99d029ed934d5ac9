"""Design `balanced`: every title of a subreddit appears equally often, so counts of titles carry no information.

In the published pools the frequency of a title leaks: rare titles are more often relevant. Equal counts within one are
not enough, because the rest still leaks. Each subreddit therefore gets one count c, and each of its titles appears in
exactly c of its pools, as a relevant candidate or as a distractor. A random b-matching (`bmatching`) assigns the titles
to pools. The ground truth of the threads stays unchanged.

All titles of a subreddit take part, and each spelling counts as a title. Dropping the spellings that are relevant
nowhere would leak: the titles that still had two spellings would be the popular ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from musicrs_metric.errors import UserError
from musicrs_metric.matching import normalise

from ..records import Thread
from .bmatching import Bools, Ints, random_b_matching
from .entities import answers_of, by_subreddit, entities_of
from .poolset import DISTRACTORS, Design, PoolSet, SubredditPools, Track, describe, untracked
from .seeding import generator, shuffled

# Allowed differences of pool sizes within a subreddit, before another count is tried.
_SLACK = range(4)


class _Titles(NamedTuple):
    """Titles of one subreddit and its threads; both arrays have shape (n_titles, n_threads)."""

    names: list[str]
    right: Bools
    allowed: Bools

    def most(self) -> Ints:
        """Return the largest possible number of pools per title."""
        most: Ints = (self.right | self.allowed).sum(axis=1)
        return most

    def only(self, kept: Bools) -> _Titles:
        names = [name for name, keep in zip(self.names, kept, strict=True) if keep]
        return _Titles(names, self.right[kept], self.allowed[kept])

    def spellings(self) -> list[list[int]]:
        forms: dict[str, list[int]] = {}
        for i, name in enumerate(self.names):
            forms.setdefault(normalise(name), []).append(i)
        return [places for places in forms.values() if len(places) > 1]


def balanced_pools(
    threads: Sequence[Thread], *, distractors: int = DISTRACTORS, seed: int = 0, track: Track = untracked
) -> PoolSet:
    """Draw pools in which every title of a subreddit appears in exactly the same number of its pools.

    No pool holds a distractor that the replies of its thread name (equality under `normalise`). No pool holds two
    candidates of one normal form, unless the ground truth has them. A title in two subreddits counts separately in
    each. A title is excluded only if replies name it in so many threads that too few pools remain. A thread without
    ground truth gets a pool too.

    Args:
        threads: Threads with `ground_truth` and `all_entities`; existing `candidates` add to the titles.
        distractors: Wanted mean number of distractors per pool. The result is the nearest size that the count allows.
            Sizes within a subreddit differ by a few.
        seed: The pools are a function of the seed and the threads. A subreddit does not depend on the others.
        track: Wraps the loop over subreddits, e.g. in a progress bar.

    Returns:
        The pools, with the count of each subreddit, and a note on each subreddit with smaller or larger pools.

    Raises:
        UserError: scipy is not installed, or a subreddit allows no such pools.
    """
    _require_scipy()
    pools: dict[str, tuple[str, ...]] = {}
    statistics: dict[str, SubredditPools] = {}
    notes: list[str] = []
    for name, group in track(list(by_subreddit(threads).items())):
        titles = _titles(group)
        wanted = distractors + float(titles.right.sum()) / len(group)
        count, placed, chosen = _balance(name, titles, wanted, seed)
        for t, thread in enumerate(group):
            pool = [chosen.names[i] for i in np.flatnonzero(placed[:, t])]
            pools[thread.thread_id] = shuffled(pool, generator(seed, "order", thread.thread_id))
        rows = (pools[thread.thread_id] for thread in group)
        statistics[name] = describe(rows, known=len(entities_of(group)), wanted=wanted, count=count)
        notes.extend(_note(name, statistics[name]))
    return PoolSet(Design.BALANCED, seed, {t.thread_id: pools[t.thread_id] for t in threads}, statistics, tuple(notes))


def _titles(group: Sequence[Thread]) -> _Titles:
    names = entities_of(group)
    row = {name: i for i, name in enumerate(names)}
    forms = [normalise(name) for name in names]
    right = np.zeros((len(names), len(group)), dtype=bool)
    allowed = np.zeros_like(right)
    for t, thread in enumerate(group):
        right[[row[name] for name in thread.ground_truth], t] = True
        barred = answers_of(thread)
        allowed[:, t] = [form not in barred for form in forms]
    return _Titles(names, right, allowed)


def _balance(name: str, titles: _Titles, wanted: float, seed: int) -> tuple[int, Bools, _Titles]:
    for count in _counts(titles, wanted):
        chosen = titles.only(titles.most() >= count)
        n_right = chosen.right.sum(axis=0)
        slots = count * len(chosen.names)
        n_pools = len(n_right)
        for slack in _SLACK:
            low = np.maximum(max(slots // n_pools - slack, 1) - n_right, 0)
            high = -(-slots // n_pools) + slack - n_right
            if (high < 0).any():
                continue
            need = count - chosen.right.sum(axis=1)
            rng = generator(seed, "balanced", name)
            placed = random_b_matching(chosen.allowed, need, low, high, chosen.spellings(), rng)
            if placed is not None:
                return count, placed | chosen.right, chosen
    raise UserError(
        f"r/{name}: its {titles.right.shape[1]} threads and {len(titles.names)} titles allow no pools in which each "
        "title appears equally often and no relevant title is a distractor; use the design `paper` or `fresh`"
    )


def _counts(titles: _Titles, wanted: float) -> Iterator[int]:
    """Yield the possible counts; first the count whose pools are nearest to the wanted size."""
    n_pools = titles.right.shape[1]
    most = titles.most()
    is_relevant = titles.right.any(axis=1)
    # A relevant title is in the pools of its threads, and may not be in others whose replies name it.
    fewest = max(int(titles.right.sum(axis=1).max(initial=0)), 1)
    highest = int(most[is_relevant].min(initial=n_pools))
    possible = range(fewest, highest + 1)
    yield from sorted(possible, key=lambda c: (abs(c * int((most >= c).sum()) / n_pools - wanted), c))


def _note(name: str, statistics: SubredditPools) -> Iterator[str]:
    # A count is a whole number, so a deviation of more than half a step is a shortage or an excess.
    reach = statistics.wanted / (2 * (statistics.count or 1)) + 1
    smallest, largest = statistics.size
    sizes = f"{smallest}" if smallest == largest else f"{smallest} to {largest}"
    if largest < statistics.wanted - reach:
        yield (
            f"r/{name}: {statistics.entities} titles are too few for {statistics.wanted:.0f} candidates per pool; "
            f"its pools hold {sizes}, each title appears in {statistics.count}"
        )
    elif smallest > statistics.wanted + reach:
        yield (
            f"r/{name}: a title is relevant in {statistics.count} threads, so every title appears in "
            f"{statistics.count} pools; they hold {sizes} candidates, not {statistics.wanted:.0f}"
        )


def _require_scipy() -> None:
    try:
        import scipy  # noqa: F401
    except ImportError:
        raise UserError("balanced pools need scipy; install it with `pip install scipy`") from None
