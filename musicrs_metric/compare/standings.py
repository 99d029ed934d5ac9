"""Standings: mean, interval, verdict against chance, rank and rank group of each system.

`metric_standings` serves comparisons and leaderboards. A comparison computes for every pair its interval, sign flips
and effects. Their cost grows with the square of the number of systems, so a leaderboard of hundreds of rows computes
only what its standings need: one paired t test per pair (`standings`). Signs are flipped only if t is undefined. The
results are the same: tests, Holm's correction over all pairs, groups and intervals. With more rows each test must be
stricter, so that groups widen as a leaderboard grows. The verdict against chance depends on no other row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np

from ..intervals import CONFIDENCE, RESAMPLES, SCORES, Resamples, interval_ends, resample, why_no_interval
from ..measures import Floats
from .against_chance import against_chance
from .ranks import rank_bounds, rank_groups, ranks
from .results import AgainstChance, Bounds, Standing
from .significance import ROUNDING, flipped_sums, holm, sign_flip_p, t_test
from .systems import Mask, System, common_threads


def standings(
    peers: Sequence[System],
    metrics: Sequence[str],
    *,
    chosen: Mask | None = None,
    resamples: int = RESAMPLES,
) -> list[dict[str, Standing]]:
    """Rank systems that read the same on the same data.

    Args:
        peers: At least one system; all over the same n threads, with pools.
        metrics: Measures of their tables.
        chosen: Shape (n,): threads to rank on; None for all.
        resamples: Resamples of the intervals.

    Returns:
        Metric to standing, for every system in the order given.

    Raises:
        UserError: scipy is not installed.
    """
    table = peers[0].table
    chosen = np.ones(len(table.hits), dtype=bool) if chosen is None else chosen
    if table.chance is None:
        raise ValueError("standings need the pools; expected tables with chance levels")
    tables = [*(peer.table.values for peer in peers), table.chance]
    values = np.stack([np.stack([values[metric][chosen] for values in tables], axis=1) for metric in metrics], axis=1)
    drawn = resample(values.reshape(len(values), -1), resamples=resamples, seed=0)
    means = drawn.means.reshape(-1, *values.shape[1:])
    by_metric = []
    for j, metric in enumerate(metrics):
        columns, drawn_columns = np.ascontiguousarray(values[:, j]), np.ascontiguousarray(means[:, j])
        by_metric.append(
            metric_standings(
                metric,
                peers,
                columns,
                Resamples(drawn_columns, drawn.unseen),
                chosen,
                different=_different(columns[:, : len(peers)], resamples),
                confidence=CONFIDENCE,
                seed=0,
            )
        )
    return [dict(zip(metrics, of_peer, strict=True)) for of_peer in zip(*by_metric, strict=True)]


def metric_standings(
    metric: str,
    systems: Sequence[System],
    columns: Floats,
    drawn: Resamples,
    counted: Mask,
    *,
    different: Mask,
    confidence: float,
    seed: int,
) -> list[Standing]:
    """Return the standings of s systems on one metric. Ranks and groups are formed among systems that read the same.

    Args:
        metric: Such as "recall@20".
        systems: The systems.
        columns: Shape (n, s), or (n, s + 1) if pools are known: values of the n threads that count, one column per
            system, and chance as the last one.
        drawn: Resamples of these columns.
        counted: The n threads among all threads of the tables.
        different: Shape (s, s), symmetric: whether two systems differ significantly.
        confidence: Coverage of the intervals.
        seed: Seed of the resamples of a system that lacks predictions.

    Returns:
        One standing per system.
    """
    s = len(systems)
    values, means = columns[:, :s], columns[:, :s].mean(axis=0)
    low, high = interval_ends(values, Resamples(drawn.means[:, :s], drawn.unseen), confidence, SCORES)
    on_common = values[common_threads(systems)[counted]]
    common_means = on_common.mean(axis=0) if len(on_common) else None
    against: list[AgainstChance | None] = [None] * s
    if columns.shape[1] > s:
        gaps = Resamples(drawn.means[:, :s] - drawn.means[:, [s]], drawn.unseen)
        against = against_chance(
            metric, systems, values - columns[:, [s]], gaps, counted, confidence=confidence, seed=seed
        )
    rank, first, last, group = (np.zeros(s, dtype=np.int64) for _ in range(4))
    for reads in {system.reads for system in systems}:
        peers = np.array([i for i, system in enumerate(systems) if system.reads == reads])
        rank[peers] = ranks(means[peers])
        first[peers], last[peers] = rank_bounds(drawn.means[:, peers], confidence)
        group[peers] = rank_groups(means[peers], different[np.ix_(peers, peers)])
    has_intervals = why_no_interval(len(values)) is None
    return [
        Standing(
            system=system.name,
            reads=system.reads,
            mean=float(means[i]),
            interval=bounds_or_none(low[i], high[i]),
            common_mean=None if common_means is None else float(common_means[i]),
            chance=against[i],
            rank=int(rank[i]),
            rank_interval=(int(first[i]), int(last[i])) if has_intervals else None,
            group=int(group[i]),
        )
        for i, system in enumerate(systems)
    ]


def bounds_or_none(low: float, high: float) -> Bounds | None:
    """Return the ends of an interval, or None if they are NaN."""
    return None if math.isnan(low) else (float(low), float(high))


def _different(values: Floats, flips: int) -> Mask:
    """Test all pairs of columns, row by row of the triangle: the paired t test with Holm's correction."""
    s = values.shape[1]
    different = np.zeros((s, s), dtype=bool)
    if s > 1:
        p = [_p_values(values[:, [i]] - values[:, i + 1 :], flips) for i in range(s - 1)]
        a, b = np.triu_indices(s, 1)
        different[a, b] = different[b, a] = holm(np.concatenate(p)) <= 1 - CONFIDENCE
    return different


def _p_values(differences: Floats, flips: int) -> Floats:
    """Return the p value of the paired t test of each column, or of the sign-flip test if t is undefined."""
    p = t_test(differences).p
    undefined = np.isnan(p)
    if undefined.any():
        # The difference is the same on every thread: none at all, as with a file that two teams have sent, or a number
        # whose size does not matter to the test.
        is_none = np.abs(differences.mean(axis=0)) <= ROUNDING
        p[undefined] = np.where(is_none[undefined], 1.0, _p_of_constant(len(differences), flips))
    return p


@cache
def _p_of_constant(n: int, flips: int) -> float:
    """Return the sign-flip p value of a difference that is the same on n threads and is not 0."""
    ones = np.ones((n, 1))
    return float(sign_flip_p(flipped_sums(ones, flips=flips, seed=0), ones.sum(axis=0))[0])
