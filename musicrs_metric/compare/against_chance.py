"""Systems against random orders of the pools: the verdict of `score`, with the difference from chance beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..chance import chance_test, pools_of
from ..intervals import Resamples, interval_ends, resample
from ..measures import Floats
from .results import AgainstChance
from .significance import holm, t_test
from .systems import Mask, System


def against_chance(
    metric: str,
    systems: Sequence[System],
    differences: Floats,
    drawn: Resamples,
    counted: Mask,
    *,
    confidence: float,
    seed: int,
) -> list[AgainstChance | None]:
    """Judge systems on one metric, each by itself on the threads for which it has a prediction.

    Args:
        metric: Such as "recall@20".
        systems: s systems over the same threads.
        differences: Shape (n, s): value minus chance, for the n threads that count.
        drawn: Resamples of the differences.
        counted: Which of all threads count.
        confidence: Coverage of the intervals.
        seed: Seed of the resamples of a system that lacks predictions.

    Returns:
        One result per system; None where pools are unknown or no thread has a prediction.
    """
    found: list[AgainstChance | None] = []
    for i, system in enumerate(systems):
        answered = ~system.table.hits.missing
        threads = counted & answered
        test = chance_test(metric, _mean(system, metric, threads), pools_of(system.table.hits, threads))
        if test is None:
            found.append(None)
            continue
        own, own_drawn = differences[:, [i]], Resamples(drawn.means[:, [i]], drawn.unseen)
        if not answered[counted].all():
            own = own[answered[counted]]
            own_drawn = resample(own, resamples=len(drawn.unseen), seed=seed)
        (low,), (high,) = interval_ends(own, own_drawn, confidence, gap_bounds(system, metric, threads))
        (t,) = t_test(own).t
        found.append(
            AgainstChance(
                difference=float(own.mean()),
                interval=None if np.isnan(low) else (float(low), float(high)),
                t=None if np.isnan(t) else float(t),
                p=test.p,
                p_holm=test.p,
                verdict=test.verdict,
                n=len(own),
            )
        )
    return _corrected(found)


def gap_bounds(system: System, metric: str, threads: Mask) -> tuple[float, float]:
    """The lowest and the highest difference from chance that a thread like these can have."""
    levels = (system.table.chance or {})[metric][threads]
    return -float(levels.max()), 1.0 - float(levels.min())


def _mean(system: System, metric: str, threads: Mask) -> float | None:
    return float(system.table.values[metric][threads].mean()) if threads.any() else None


def _corrected(found: Sequence[AgainstChance | None]) -> list[AgainstChance | None]:
    """Add Holm's correction over the systems, for a reader who looks at the best of many; no verdict depends on it."""
    adjusted = iter(holm(np.array([one.p for one in found if one is not None])).tolist())
    return [None if one is None else replace(one, p_holm=next(adjusted)) for one in found]
