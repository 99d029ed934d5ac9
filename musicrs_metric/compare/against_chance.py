"""Systems against random orders of the pools: the verdict of `score`, and the difference from chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..chance import ChanceTest, chance_test, pools_of
from ..intervals import Resamples, interval_ends, resample
from ..measures import Floats
from ..scoring import ThreadTable
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
    """Judge systems on one metric. Each is judged on its own, on the threads for which it has a prediction.

    Args:
        metric: Such as "recall@20".
        systems: s systems over the same threads.
        differences: Shape (n, s): value minus chance, for the n threads that count.
        drawn: Resamples of the differences.
        counted: Mask of the threads that count, among all threads.
        confidence: Coverage of the intervals.
        seed: Seed of the resamples of a system that lacks predictions.

    Returns:
        One result per system; None if pools are unknown or no thread has a prediction.
    """
    results: list[AgainstChance | None] = []
    for i, system in enumerate(systems):
        answered = ~system.table.hits.missing
        threads = counted & answered
        (test,) = chance_tests(system.table, [metric], threads)
        if test is None:
            results.append(None)
            continue
        own, own_drawn = differences[:, [i]], Resamples(drawn.means[:, [i]], drawn.unseen)
        if not answered[counted].all():
            own = own[answered[counted]]
            own_drawn = resample(own, resamples=len(drawn.unseen), seed=seed)
        (low,), (high,) = interval_ends(own, own_drawn, confidence, gap_bounds(system, metric, threads))
        (t,) = t_test(own).t
        results.append(
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
    return _corrected(results)


def gap_bounds(system: System, metric: str, threads: Mask) -> tuple[float, float]:
    """Return the lowest and the highest difference from chance that such threads can have."""
    levels = (system.table.chance or {})[metric][threads]
    return -float(levels.max()), 1.0 - float(levels.min())


def chance_tests(table: ThreadTable, metrics: Sequence[str], chosen: Mask) -> list[ChanceTest | None]:
    """Test the means over some rows of a table against random orders of their pools, or of their dialogues.

    Returns:
        One test per metric; None if pools are unknown or there is no row.
    """
    means = [float(table.values[metric][chosen].mean()) if chosen.any() else None for metric in metrics]
    if table.null is not None:
        return [table.null.test(metric, mean, chosen) for metric, mean in zip(metrics, means, strict=True)]
    pools = pools_of(table.hits, chosen)
    return [chance_test(metric, mean, pools) for metric, mean in zip(metrics, means, strict=True)]


def _corrected(results: Sequence[AgainstChance | None]) -> list[AgainstChance | None]:
    """Add Holm's correction over the systems, for the best of many. No verdict depends on it."""
    adjusted = iter(holm(np.array([result.p for result in results if result is not None])).tolist())
    return [None if result is None else replace(result, p_holm=next(adjusted)) for result in results]
