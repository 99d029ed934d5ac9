"""Every score again from the stored predictions: what the board shows is to be what anybody would compute."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from musicrs_metric.errors import UserError
from musicrs_metric.scoring import Scores

from .board.cache import Cache
from .board.data import LeaderboardData
from .board.judging import judge
from .store import SetAside, SubmissionStore
from .store.files import file_name
from .submission import SubmissionEntry

_ROUNDING = 1e-12


class Difference(NamedTuple):
    """A number that is not what it was.

    Attributes:
        entry: The submission.
        what: What differs, such as "recall@20" or "Jazz: n_missing".
        before: What was kept of it.
        now: What its predictions give.
    """

    entry: SubmissionEntry
    what: str
    before: Any
    now: Any


class Recomputed(NamedTuple):
    """The outcome.

    Attributes:
        n: Submissions that were scored.
        n_new: Those of which nothing was kept to compare with.
        differences: What changed.
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
    """Score every submission again, keep the new scores, and tell what differs from the old ones.

    Args:
        data: The pools and labels.
        store: The submissions.
        cache: What was computed before, by whichever version of the code.
        step: Told how many are done, of how many.
    """
    entries = store.entries()
    aside = list(store.set_aside())
    differences: list[Difference] = []
    n = n_new = 0
    for done, entry in enumerate(entries):
        step(done, len(entries))
        try:
            design = data.of(entry.card.fingerprint)
            submission = store.get(entry.key)
            if submission is None:
                raise UserError("its predictions cannot be read")
            now = judge(submission.predictions, design)
        except UserError as error:
            aside.append(SetAside(file_name(entry.key), str(error)))
            continue
        before = cache.latest(entry.key, design)
        if before is not None:
            found = differing(before.scores, now.scores)
            differences += (Difference(entry, what, old, new) for what, old, new in found)
        n, n_new = n + 1, n_new + (before is None)
        cache.save(entry.key, design, now)
        cache.forget_older(entry.key, design)
    step(len(entries), len(entries))
    return Recomputed(n, n_new, tuple(differences), tuple(aside))


def differing(before: Scores, now: Scores) -> Iterator[tuple[str, Any, Any]]:
    """The numbers in which two sets of scores differ by more than rounding.

    Args:
        before: The one.
        now: The other.

    Yields:
        What it is, and its two values.
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
