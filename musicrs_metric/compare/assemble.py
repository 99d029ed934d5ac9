"""From arrays of statistics to the results of one metric."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..intervals import SCORES, Resamples, interval_ends, method_of, why_no_interval
from .against_chance import against_chance
from .pairs import Ints, Pairs, Sample, all_pairs, compare_pairs
from .power import detectable_difference
from .ranks import rank_bounds, rank_groups, ranks
from .results import AgainstChance, Bounds, Effect, MetricComparison, Pair, Settings, Standing
from .systems import Mask, System, are_copies

# On fewer threads a paired difference in recall@20, whose standard deviation is about 0.23, has to reach 0.09, half of
# what chance scores, to be found.
SMALL_GROUP = 50

Effects = dict[str, dict[str, Effect]]


class Selection(NamedTuple):
    """The threads of a comparison.

    Attributes:
        whole: All of them; a column per system and, where pools are known, chance as the last one.
        parts: (grouping, group) to the threads of the group.
        common: Shape (n,): those that every system answered.
        counted: Which of all threads of the tables these n are.
    """

    whole: Sample
    parts: Mapping[tuple[str, str], Sample]
    common: Mask
    counted: Mask

    def column(self, j: int) -> Selection:
        """The selection for metric `j` alone."""
        parts = {key: part.column(j) for key, part in self.parts.items()}
        return Selection(self.whole.column(j), parts, self.common, self.counted)


def compare_metric(
    metric: str, systems: Sequence[System], selection: Selection, settings: Settings
) -> MetricComparison:
    """Compare all systems on one metric.

    Args:
        metric: Such as "recall@20".
        systems: s systems.
        selection: Their values on this metric.
        settings: Level, power and draws.

    Returns:
        The comparison.
    """
    s, values = len(systems), selection.whole.values
    a, b = all_pairs(s)
    copies = np.array([are_copies(systems[i], systems[j]) for i, j in zip(a, b, strict=True)])
    found = _without_width(compare_pairs(a, b, selection.whole, confidence=settings.confidence), copies)
    effects = _effects(a, b, selection, copies, settings)
    different = np.zeros((s, s), dtype=bool)
    different[a, b] = different[b, a] = found.p_t_holm <= settings.alpha
    typical_sd = float(np.median(found.sd))
    return MetricComparison(
        chance=float(values.mean(axis=0)[s]) if values.shape[1] > s else None,
        standings=_standings(metric, systems, selection, different, settings),
        pairs=tuple(
            _pair(systems[a[i]].name, systems[b[i]].name, found, i, len(values), effects[i], settings)
            for i in range(len(a))
        ),
        detectable=detectable_difference(typical_sd, len(values), alpha=settings.alpha, power=settings.power),
        detectable_in_family=detectable_difference(
            typical_sd, len(values), alpha=settings.alpha / len(a), power=settings.power
        ),
    )


def _pair(a: str, b: str, found: Pairs, i: int, n: int, by: Effects, settings: Settings) -> Pair:
    return Pair(
        a=a,
        b=b,
        difference=float(found.difference[i]),
        interval=_bounds(found.low[i], found.high[i]),
        t=_number(found.t[i]),
        p_t=float(found.p_t[i]),
        p_t_holm=float(found.p_t_holm[i]),
        p_flip=float(found.p_flip[i]),
        p_flip_holm=float(found.p_flip_holm[i]),
        significant=bool(found.p_t_holm[i] <= settings.alpha),
        wins=int(found.wins[i]),
        ties=int(found.ties[i]),
        losses=int(found.losses[i]),
        detectable=detectable_difference(float(found.sd[i]), n, alpha=settings.alpha, power=settings.power),
        by=by,
    )


def _without_width(found: Pairs, copies: Mask) -> Pairs:
    """Copies of one file do not differ on any thread."""
    point = copies & ~np.isnan(found.low)
    return found._replace(low=np.where(point, 0.0, found.low), high=np.where(point, 0.0, found.high))


def _effects(a: Ints, b: Ints, selection: Selection, copies: Mask, settings: Settings) -> list[Effects]:
    """The effect of each pair in each group."""
    effects: list[Effects] = [{} for _ in a]
    for (grouping, group), part in selection.parts.items():
        found = _without_width(compare_pairs(a, b, part, confidence=settings.confidence), copies)
        n = len(part.values)
        for i, by in enumerate(effects):
            by.setdefault(grouping, {})[group] = Effect(
                n=n,
                difference=float(found.difference[i]),
                interval=_bounds(found.low[i], found.high[i]),
                small=n < SMALL_GROUP,
                interval_method=method_of(n, large=False),
                interval_reason=why_no_interval(n),
            )
    return effects


def _standings(
    metric: str, systems: Sequence[System], selection: Selection, different: Mask, settings: Settings
) -> tuple[Standing, ...]:
    s, (values, drawn, unseen, _) = len(systems), selection.whole
    means = values.mean(axis=0)[:s]
    low, high = interval_ends(values[:, :s], Resamples(drawn[:, :s], unseen), settings.confidence, SCORES)
    on_common = values[selection.common]
    common_means = on_common.mean(axis=0) if len(on_common) else None
    against = _against_chance(metric, systems, selection, settings)
    rank, first, last, group = (np.zeros(s, dtype=np.int64) for _ in range(4))
    for reads in {system.reads for system in systems}:
        peers = np.array([i for i, system in enumerate(systems) if system.reads == reads])
        rank[peers] = ranks(means[peers])
        first[peers], last[peers] = rank_bounds(drawn[:, peers], settings.confidence)
        group[peers] = rank_groups(means[peers], different[np.ix_(peers, peers)])
    return tuple(
        Standing(
            system=system.name,
            reads=system.reads,
            mean=float(means[i]),
            interval=_bounds(low[i], high[i]),
            common_mean=None if common_means is None else float(common_means[i]),
            chance=against[i],
            rank=int(rank[i]),
            rank_interval=(int(first[i]), int(last[i])) if settings.interval_reason is None else None,
            group=int(group[i]),
        )
        for i, system in enumerate(systems)
    )


def _against_chance(
    metric: str, systems: Sequence[System], selection: Selection, settings: Settings
) -> list[AgainstChance | None]:
    s, (values, drawn, unseen, _) = len(systems), selection.whole
    if values.shape[1] == s:
        return [None] * s
    return against_chance(
        metric,
        systems,
        values[:, :s] - values[:, [s]],
        Resamples(drawn[:, :s] - drawn[:, [s]], unseen),
        selection.counted,
        confidence=settings.confidence,
        seed=settings.seed,
    )


def _bounds(low: float, high: float) -> Bounds | None:
    return None if math.isnan(low) else (float(low), float(high))


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
