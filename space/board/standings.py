"""Ranks, rank groups and verdicts against chance for a board that grows to hundreds of rows.

What `musicrs_metric.compare` computes for every pair (bootstrap interval, sign flips, effects) grows with the square of
the number of systems. A board needs of the pairs only whether they differ, and that is one paired t test each: they are
made here for all pairs, row by row of the triangle, which takes a fraction of a second for 200 systems. Signs are
flipped only where t is undefined. Nothing is approximated: tests, Holm's correction over all pairs, groups and
intervals are those of `musicrs_metric.compare` applied to the rows that are ranked together. With more rows each test
must be the stricter for it, so that groups widen as a board grows. The verdict against chance depends on no other row.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from musicrs_metric.compare.against_chance import against_chance
from musicrs_metric.compare.ranks import rank_groups, ranks
from musicrs_metric.compare.results import Standing
from musicrs_metric.compare.significance import ROUNDING, flipped_sums, holm, sign_flip_p, t_test
from musicrs_metric.compare.systems import System, common_threads
from musicrs_metric.intervals import (
    CONFIDENCE,
    RESAMPLES,
    SCORES,
    SMALLEST_SAMPLE,
    Resamples,
    interval_ends,
    resample,
)
from musicrs_metric.measures import Floats

Mask = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
ALPHA = 1 - CONFIDENCE


def standings(
    peers: Sequence[System],
    metrics: Sequence[str],
    *,
    chosen: Mask | None = None,
    resamples: int = RESAMPLES,
) -> list[dict[str, Standing]]:
    """Rank systems that read the same on the same data.

    Args:
        peers: At least one; all over the same n threads.
        metrics: Measures of their tables.
        chosen: Shape (n,): threads to rank on, None for all.
        resamples: Of the intervals.

    Returns:
        Metric to standing, for every system in the order given.

    Raises:
        UserError: scipy is not installed.
    """
    table = peers[0].table
    chosen = np.ones(len(table.hits), dtype=bool) if chosen is None else chosen
    assert table.chance is not None  # noqa: S101 - the threads of a board have pools
    tables = [*(peer.table.values for peer in peers), table.chance]
    values = np.stack([np.stack([values[metric][chosen] for values in tables], axis=1) for metric in metrics], axis=1)
    drawn = resample(values.reshape(len(values), -1), resamples=resamples, seed=0)
    means = drawn.means.reshape(-1, *values.shape[1:])
    by_metric = [
        _of_metric(
            metric,
            peers,
            np.ascontiguousarray(values[:, j]),
            Resamples(np.ascontiguousarray(means[:, j]), drawn.unseen),
            chosen,
        )
        for j, metric in enumerate(metrics)
    ]
    return [dict(zip(metrics, of_peer, strict=True)) for of_peer in zip(*by_metric, strict=True)]


def _of_metric(
    metric: str, peers: Sequence[System], columns: Floats, all_drawn: Resamples, chosen: Mask
) -> list[Standing]:
    """Standings from values and resampled means, a column per system and chance as the last one."""
    s, common = len(peers), common_threads(peers)[chosen]
    values, drawn = columns[:, :s], all_drawn.means[:, :s]
    means = values.mean(axis=0)
    low, high = interval_ends(values, Resamples(drawn, all_drawn.unseen), CONFIDENCE, SCORES)
    first, last = _rank_bounds(drawn)
    rank, group = ranks(means), rank_groups(means, _different(values, len(drawn)))
    common_means = values[common].mean(axis=0) if common.any() else None
    gaps = Resamples(drawn - all_drawn.means[:, [s]], all_drawn.unseen)
    against = against_chance(metric, peers, values - columns[:, [s]], gaps, chosen, confidence=CONFIDENCE, seed=0)
    many = len(values) >= SMALLEST_SAMPLE
    return [
        Standing(
            system=peer.name,
            reads=peer.reads,
            mean=float(means[i]),
            interval=(float(low[i]), float(high[i])) if many else None,
            common_mean=None if common_means is None else float(common_means[i]),
            chance=against[i],
            rank=int(rank[i]),
            rank_interval=(int(first[i]), int(last[i])) if many else None,
            group=int(group[i]),
        )
        for i, peer in enumerate(peers)
    ]


def _rank_bounds(drawn: Floats) -> tuple[Ints, Ints]:
    """The intervals of `musicrs_metric.compare.ranks.rank_bounds` from sorting, in place of comparing all with all."""
    order = np.argsort(-drawn, axis=1)
    best_first = np.take_along_axis(drawn, order, axis=1)
    falls = np.diff(best_first, axis=1, prepend=np.inf) < -ROUNDING
    place = np.maximum.accumulate(np.where(falls, np.arange(1, drawn.shape[1] + 1), 0), axis=1)
    ranked = np.empty_like(place)
    np.put_along_axis(ranked, order, place, axis=1)
    tail = (1 - CONFIDENCE) / 2
    first, last = np.quantile(ranked, [tail, 1 - tail], axis=0, method="inverted_cdf")
    return first.astype(np.int64), last.astype(np.int64)


def _different(values: Floats, flips: int) -> Mask:
    """Shape (s, s): whether two systems differ, by the paired t test with Holm's correction over all pairs."""
    s = values.shape[1]
    different = np.zeros((s, s), dtype=bool)
    if s > 1:
        p = [_p_values(values[:, [i]] - values[:, i + 1 :], flips) for i in range(s - 1)]
        a, b = np.triu_indices(s, 1)
        different[a, b] = different[b, a] = holm(np.concatenate(p)) <= ALPHA
    return different


def _p_values(differences: Floats, flips: int) -> Floats:
    """The p value of the paired t test of each column, and of the sign-flip test where t is undefined."""
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
    """The sign-flip p value of a difference that is the same on n threads and is not 0."""
    ones = np.ones((n, 1))
    return float(sign_flip_p(flipped_sums(ones, flips=flips, seed=0), ones.sum(axis=0))[0])
