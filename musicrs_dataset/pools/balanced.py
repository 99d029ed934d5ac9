"""Pools in which every title of a subreddit stands equally often, so that counting titles tells nothing.

In the published pools a title's frequency gives it away: what is rare is more likely right. Within one is not enough,
since the rest still leaks; so each subreddit gets one count c, and each of its titles stands in exactly c of its pools,
as an answer or as a distractor alike. Which pools a title fills up is a random b-matching (`bmatching`). Whatever the
ground truth of a thread says stays as it is given.

All titles of a subreddit take part, each spelling of a title as a title of its own. To drop the spellings that are
nobody's answer looks tidy and leaks: of the titles, those that still stood in two spellings would be the popular ones.
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

# How far pool sizes of one subreddit may lie from each other before another count is tried.
_SLACK = range(4)


class _Titles(NamedTuple):
    """The titles of one subreddit against its threads; both arrays have shape (n_titles, n_threads)."""

    names: list[str]
    right: Bools
    allowed: Bools

    def most(self) -> Ints:
        """In how many pools each title can stand."""
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
    """Draw pools in which every title of a subreddit stands in exactly the same number of its pools.

    No pool holds a distractor that the replies of its thread name (equality under `normalise`), nor two candidates of
    one normal form, unless the ground truth itself has them. A title in two subreddits is counted in each by itself. A
    title is left out only where it is true in so many threads that it cannot stand in enough pools. A thread without
    ground truth gets a pool too.

    Args:
        threads: Threads with `ground_truth` and `all_entities`; existing `candidates` add to the titles.
        distractors: Wanted distractors per pool on average; the size that comes out is the nearest that the count
            allows, the same for all pools of a subreddit within a few.
        seed: The pools are a function of the seed and the threads; a subreddit does not depend on the others.
        track: Wraps the loop over subreddits, e.g. in a progress bar.

    Returns:
        The pools, with the count of each subreddit, and a note on each whose pools had to be smaller or larger.

    Raises:
        UserError: scipy is not installed, or a subreddit allows no such pools.
    """
    _require_scipy()
    pools: dict[str, tuple[str, ...]] = {}
    told: dict[str, SubredditPools] = {}
    notes: list[str] = []
    for name, group in track(list(by_subreddit(threads).items())):
        titles = _titles(group)
        wanted = distractors + float(titles.right.sum()) / len(group)
        count, placed, chosen = _balance(name, titles, wanted, seed)
        for t, thread in enumerate(group):
            pool = [chosen.names[i] for i in np.flatnonzero(placed[:, t])]
            pools[thread.thread_id] = shuffled(pool, generator(seed, "order", thread.thread_id))
        rows = (pools[thread.thread_id] for thread in group)
        told[name] = describe(rows, known=len(entities_of(group)), wanted=wanted, count=count)
        notes.extend(_note(name, told[name]))
    return PoolSet(Design.BALANCED, seed, {t.thread_id: pools[t.thread_id] for t in threads}, told, tuple(notes))


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
        "title stands equally often and no right answer is a distractor; use the design `paper` or `fresh`"
    )


def _counts(titles: _Titles, wanted: float) -> Iterator[int]:
    """Counts that are possible, the one whose pools come nearest to the wanted size first."""
    n_pools = titles.right.shape[1]
    most = titles.most()
    is_answer = titles.right.any(axis=1)
    # An answer stands in the pools it is right in, and may not stand where it is true but unlabelled.
    fewest = max(int(titles.right.sum(axis=1).max(initial=0)), 1)
    highest = int(most[is_answer].min(initial=n_pools))
    possible = range(fewest, highest + 1)
    yield from sorted(possible, key=lambda c: (abs(c * int((most >= c).sum()) / n_pools - wanted), c))


def _note(name: str, told: SubredditPools) -> Iterator[str]:
    # A count can only be a whole number; what lies further off than half a step is a shortage or an excess.
    reach = told.wanted / (2 * (told.count or 1)) + 1
    smallest, largest = told.size
    held = f"{smallest}" if smallest == largest else f"{smallest} to {largest}"
    if largest < told.wanted - reach:
        yield (
            f"r/{name}: {told.entities} titles are too few for {told.wanted:.0f} candidates a pool; "
            f"its pools hold {held}, each title stands in {told.count}"
        )
    elif smallest > told.wanted + reach:
        yield (
            f"r/{name}: some title is right in {told.count} threads, so every title stands in {told.count} pools, "
            f"which hold {held} candidates and not {told.wanted:.0f}"
        )


def _require_scipy() -> None:
    try:
        import scipy  # noqa: F401
    except ImportError:
        raise UserError("balanced pools need scipy; install it with `pip install scipy`") from None
