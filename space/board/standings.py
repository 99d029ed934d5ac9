"""Ranks, rank groups and verdicts against chance for a board that grows to hundreds of rows.

What `musicrs_metric.compare` computes for every pair (bootstrap interval, sign flips, effects) grows with the square of
the number of systems. A board needs of the pairs only whether they differ, and that is one paired t test each: they are
made here for all pairs, row by row of the triangle, which takes a fraction of a second for 200 systems. Nothing is
approximated: tests, Holm's correction over all pairs, groups and intervals are those of `musicrs_metric.compare`
applied to the rows that are ranked together. With more rows each test must be the stricter for it, so that groups widen
as a board grows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from musicrs_metric.compare.pairs import Sample, compare_pairs, mean_bounds, take_sample
from musicrs_metric.compare.ranks import rank_groups, ranks
from musicrs_metric.compare.results import AgainstChance, Standing
from musicrs_metric.compare.significance import ROUNDING, holm, sign_flip_p, t_test
from musicrs_metric.compare.systems import System, common_threads
from musicrs_metric.intervals import CONFIDENCE, RESAMPLES
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
    sample = take_sample(values, resamples=resamples, seed=0)
    by_metric = [_of_metric(peers, sample.column(j), chosen) for j in range(len(metrics))]
    return [dict(zip(metrics, of_peer, strict=True)) for of_peer in zip(*by_metric, strict=True)]


def _of_metric(peers: Sequence[System], sample: Sample, chosen: Mask) -> list[Standing]:
    s = len(peers)
    values, drawn = sample.values[:, :s], sample.drawn[:, :s]
    means = values.mean(axis=0)
    low, high = mean_bounds(values, drawn, CONFIDENCE)
    first, last = _rank_bounds(drawn)
    rank, group = ranks(means), rank_groups(means, _different(sample, s))
    common = common_threads(peers)[chosen]
    common_means = values[common].mean(axis=0) if common.any() else None
    against = _against_chance(sample, s)
    many = len(values) > 1
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


def _different(sample: Sample, s: int) -> Mask:
    """Shape (s, s): whether two systems differ, by the paired t test with Holm's correction over all pairs."""
    p = [_p_values(sample, i, s) for i in range(s - 1)]
    different = np.zeros((s, s), dtype=bool)
    if p:
        a, b = np.triu_indices(s, 1)
        different[a, b] = different[b, a] = holm(np.concatenate(p)) <= ALPHA
    return different


def _p_values(sample: Sample, i: int, s: int) -> Floats:
    """The p values of system i against those that follow it."""
    differences = sample.values[:, [i]] - sample.values[:, i + 1 : s]
    p = t_test(differences).p
    # Two systems whose difference is the same on every thread, such as a file sent by two teams, have no t.
    undefined = np.flatnonzero(np.isnan(p))
    flipped = sample.flipped[:, [i]] - sample.flipped[:, i + 1 + undefined]
    p[undefined] = sign_flip_p(flipped, differences[:, undefined].sum(axis=0))
    return p


def _against_chance(sample: Sample, s: int) -> list[AgainstChance]:
    found = compare_pairs(np.arange(s), np.full(s, s), sample, confidence=CONFIDENCE)
    return [
        AgainstChance(
            difference=float(found.difference[i]),
            interval=None if np.isnan(found.low[i]) else (float(found.low[i]), float(found.high[i])),
            t=None if np.isnan(found.t[i]) else float(found.t[i]),
            p=float(found.p_t[i]),
            p_holm=float(found.p_t_holm[i]),
            verdict="at" if found.p_t_holm[i] > ALPHA else "above" if found.difference[i] > 0 else "below",
        )
        for i in range(s)
    ]
