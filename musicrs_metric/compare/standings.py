"""Standings: mean, interval, verdict against chance, rank and rank group of each system.

`metric_standings` serves comparisons, which test every pair of a few systems. `standings` serves leaderboards, on which
anyone can add rows. What belongs to a row alone (`measure_alone`) is computed once per row. Rank and rank group compare
the rows (`musicrs_metric.compare.ranks.groups_with_best`): the group of a row depends only on rows with a higher score.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from ..intervals import CONFIDENCE, RESAMPLES, SCORES, Resamples, interval_ends, resample, why_no_interval
from ..measures import Floats
from .against_chance import against_chance
from .ranks import GrowingRanks, Ints, groups_with_best, rank_bounds, rank_groups, ranks
from .results import AgainstChance, Bounds, Standing
from .significance import paired_p
from .systems import Mask, System, common_threads

# Resamples for the intervals of ranks. Unlike the ends of an interval, a rank needs no more.
RANK_RESAMPLES = 1_000


@dataclass(frozen=True)
class Alone:
    """Statistics of one system that do not depend on other systems.

    Attributes:
        draws: Shape (resamples, m): means of the resamples of the threads, for the intervals of ranks.
        interval: Interval of each of the m measures; None if the threads are too few.
        chance: The verdict against chance of each measure.
    """

    draws: Floats
    interval: tuple[Bounds | None, ...]
    chance: tuple[AgainstChance | None, ...]


def measure_alone(
    system: System, metrics: Sequence[str], *, chosen: Mask | None = None, resamples: int = RESAMPLES
) -> Alone:
    """Compute the statistics of one system.

    Args:
        system: The system; its table has chance levels.
        metrics: Measures of its table.
        chosen: Shape (n,): threads that count; None for all.
        resamples: Resamples of the intervals.
    """
    counted = np.ones(len(system.table.hits), dtype=bool) if chosen is None else chosen
    if system.table.chance is None:
        raise ValueError("standings need the pools; expected a table with chance levels")
    values = _columns(system, metrics, counted)
    levels = np.stack([system.table.chance[metric][counted] for metric in metrics], axis=1)
    drawn = resample(np.concatenate([values, levels], axis=1), resamples=resamples, seed=0)
    m = len(metrics)
    low, high = interval_ends(values, Resamples(drawn.means[:, :m], drawn.unseen), CONFIDENCE, SCORES)
    gaps = drawn.means[:, :m] - drawn.means[:, m:]
    chance = [
        against_chance(
            metric,
            [system],
            (values - levels)[:, [j]],
            Resamples(gaps[:, [j]], drawn.unseen),
            counted,
            confidence=CONFIDENCE,
            seed=0,
        )[0]
        for j, metric in enumerate(metrics)
    ]
    intervals = (bounds_or_none(*ends) for ends in zip(low, high, strict=True))
    return Alone(drawn.means[:RANK_RESAMPLES, :m].astype(np.float32), tuple(intervals), tuple(chance))


class StandingsMemory:
    """Comparisons of the last call of `standings`, so that the next call compares new systems only."""

    def __init__(self) -> None:
        self.ranks: dict[str, GrowingRanks] = defaultdict(GrowingRanks)
        self._p: dict[str, dict[tuple[Hashable, Hashable], float]] = defaultdict(dict)

    def groups(self, metric: str, keys: Sequence[Hashable], values: Floats) -> Ints:
        """Return `groups_with_best`. Only pairs without a known p value are tested."""
        known, used = self._p[metric], {}

        def p_values(best: int, others: Sequence[int]) -> Floats:
            new = [i for i in others if (keys[best], keys[i]) not in known]
            if new:  # with a second column, because numpy sums a single one in another order
                tested = paired_p(values[:, [best]] - values[:, [best, *new]])[1:].tolist()
                known.update(zip(((keys[best], keys[i]) for i in new), tested, strict=True))
            p = {(keys[best], keys[i]): known[keys[best], keys[i]] for i in others}
            used.update(p)
            return np.array(list(p.values()))

        group = groups_with_best(values, p_values=p_values)
        self._p[metric] = used
        return group


def standings(
    peers: Sequence[System],
    metrics: Sequence[str],
    *,
    chosen: Mask | None = None,
    alone: Sequence[Alone] | None = None,
    keys: Sequence[Hashable] | None = None,
    memory: StandingsMemory | None = None,
) -> list[dict[str, Standing]]:
    """Rank systems that read the same on the same data, by comparison with the best.

    Args:
        peers: At least one system; all over the same n threads, with pools.
        metrics: Measures of their tables.
        chosen: Shape (n,): threads to rank on; None for all.
        alone: Their statistics on the same threads and measures, if they are known.
        keys: One per system, for `memory`. The same key always has the same values.
        memory: Comparisons of the last call on the same threads and measures; the result is the same without it.

    Returns:
        Metric to standing, for every system in the order given.

    Raises:
        UserError: scipy is not installed.
    """
    counted = np.ones(len(peers[0].table.hits), dtype=bool) if chosen is None else chosen
    alone = alone or [measure_alone(peer, metrics, chosen=chosen) for peer in peers]
    keys, memory = (range(len(peers)), StandingsMemory()) if keys is None or memory is None else (keys, memory)
    on_common = common_threads(peers)[counted]
    has_intervals = why_no_interval(int(counted.sum())) is None
    by_peer: list[dict[str, Standing]] = [{} for _ in peers]
    for j, metric in enumerate(metrics):
        values = np.stack([peer.table.values[metric][counted] for peer in peers], axis=1)
        means = values.mean(axis=0)
        common_means = values[on_common].mean(axis=0) if on_common.any() else None
        drawn = {key: one.draws[:, j] for key, one in zip(keys, alone, strict=True)}
        first, last = memory.ranks[metric].bounds(drawn, CONFIDENCE)
        rank, group = ranks(means), memory.groups(metric, keys, values)
        for i, peer in enumerate(peers):
            by_peer[i][metric] = Standing(
                system=peer.name,
                reads=peer.reads,
                mean=float(means[i]),
                interval=alone[i].interval[j],
                common_mean=None if common_means is None else float(common_means[i]),
                chance=alone[i].chance[j],
                rank=int(rank[i]),
                rank_interval=(int(first[i]), int(last[i])) if has_intervals else None,
                group=int(group[i]),
            )
    return by_peer


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


def _columns(system: System, metrics: Sequence[str], counted: Mask) -> Floats:
    return np.stack([system.table.values[metric][counted] for metric in metrics], axis=1)
