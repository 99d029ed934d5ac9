"""Compute every score again from the stored predictions, and compare it with the cached one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from musicrs_metric.errors import UserError
from musicrs_metric.scoring import Scores

from .board.cache import Cache
from .board.data import LeaderboardData
from .board.judging import judge, still_valid
from .store import SetAside, SubmissionStore
from .store.files import file_name
from .submission import SubmissionEntry

_ROUNDING = 1e-12


class Difference(NamedTuple):
    """A number that has changed.

    Attributes:
        entry: The submission.
        what: The number, such as "recall@20" or "Jazz: n_missing".
        before: Its cached value.
        now: Its new value.
    """

    entry: SubmissionEntry
    what: str
    before: Any
    now: Any


class Recomputed(NamedTuple):
    """Result of a recomputation.

    Attributes:
        n: Number of scored submissions.
        n_new: Number of these without a cached score to compare with.
        differences: Numbers that have changed.
        set_aside: Stored files that could not be scored.
    """

    n: int
    n_new: int
    differences: tuple[Difference, ...]
    set_aside: tuple[SetAside, ...]


def recompute(
    data: LeaderboardData,
    store: SubmissionStore,
    cache: Cache,
    step: Callable[[int, int], None] = lambda _done, _of: None,
) -> Recomputed:
    """Score every submission again, cache the new scores, and list the differences from the old ones.

    Args:
        data: Pool designs of the leaderboard.
        store: The submissions.
        cache: Scores that any version of the code has computed.
        step: Called with the number of finished submissions and their total.
    """
    entries = store.entries()
    aside = list(store.set_aside())
    differences: list[Difference] = []
    n = n_new = 0
    for done, entry in enumerate(entries):
        step(done, len(entries))
        try:
            design = data.for_card(entry.card)
            submission = store.get(entry.key)
            if submission is None:
                raise UserError("its predictions cannot be read")
            predictions = submission.predictions
            if design.other_data(entry.card.fingerprint):
                predictions = tuple(still_valid(predictions, design))
            now = judge(predictions, design)
        except UserError as error:
            aside.append(SetAside(file_name(entry.key), str(error)))
            continue
        before = cache.latest(entry.key, design)
        if before is not None:
            changes = differing(before.scores, now.scores)
            differences += (Difference(entry, name, old, new) for name, old, new in changes)
        n, n_new = n + 1, n_new + (before is None)
        cache.save(entry.key, design, now)
        cache.forget_older(entry.key, design)
    step(len(entries), len(entries))
    return Recomputed(n, n_new, tuple(differences), tuple(aside))


def differing(before: Scores, now: Scores) -> Iterator[tuple[str, Any, Any]]:
    """List the numbers in which two sets of scores differ by more than rounding.

    Args:
        before: The first set.
        now: The second set.

    Yields:
        Name of the number, and its two values.
    """
    old, new = dict(_flat(before.to_dict())), dict(_flat(now.to_dict()))
    for name in sorted(old.keys() | new.keys()):
        if not _same(old.get(name), new.get(name)):
            yield name, old.get(name), new.get(name)


def _flat(values: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(values, dict):
        for key, value in values.items():
            yield from _flat(value, f"{name}: {key}" if name else key)
    elif isinstance(values, list | tuple):
        for place, value in enumerate(values):
            yield from _flat(value, f"{name} [{place}]")
    else:
        yield name, values


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=0, abs_tol=_ROUNDING)
    return bool(one == other)
