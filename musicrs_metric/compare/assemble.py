"""Results of one metric from arrays of statistics."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..intervals import Resamples, method_of, why_no_interval
from .pairs import Ints, Pairs, Sample, all_pairs, compare_pairs
from .results import Effect, MetricComparison, Pair, Settings
from .significance import detectable_difference
from .standings import bounds_or_none, metric_standings
from .systems import Mask, System, are_copies

# The standard deviation of a paired difference in recall@20 is about 0.23. On fewer threads a difference has to reach
# 0.09, half of the chance level, to be found.
SMALL_GROUP = 50

Effects = dict[str, dict[str, Effect]]


class Selection(NamedTuple):
    """The threads of a comparison.

    Attributes:
        whole: All of them: one column per system, and chance as the last one if pools are known.
        parts: (grouping, group) to the threads of the group.
        counted: These n threads among all threads of the tables.
    """

    whole: Sample
    parts: Mapping[tuple[str, str], Sample]
    counted: Mask

    def column(self, j: int) -> Selection:
        """Return the selection for metric `j` alone."""
        parts = {key: part.column(j) for key, part in self.parts.items()}
        return Selection(self.whole.column(j), parts, self.counted)


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
    statistics = _without_width(compare_pairs(a, b, selection.whole, confidence=settings.confidence), copies)
    effects = _effects(a, b, selection, copies, settings)
    different = np.zeros((s, s), dtype=bool)
    different[a, b] = different[b, a] = statistics.p_t_holm <= settings.alpha
    typical_sd = float(np.median(statistics.sd))
    return MetricComparison(
        chance=float(values.mean(axis=0)[s]) if values.shape[1] > s else None,
        standings=tuple(
            metric_standings(
                metric,
                systems,
                values,
                Resamples(selection.whole.drawn, selection.whole.unseen),
                selection.counted,
                different=different,
                confidence=settings.confidence,
                seed=settings.seed,
            )
        ),
        pairs=tuple(
            _pair(systems[a[i]].name, systems[b[i]].name, statistics, i, len(values), effects[i], settings)
            for i in range(len(a))
        ),
        detectable=detectable_difference(typical_sd, len(values), alpha=settings.alpha, power=settings.power),
        detectable_in_family=detectable_difference(
            typical_sd, len(values), alpha=settings.alpha / len(a), power=settings.power
        ),
    )


def _pair(a: str, b: str, statistics: Pairs, i: int, n: int, by: Effects, settings: Settings) -> Pair:
    return Pair(
        a=a,
        b=b,
        difference=float(statistics.difference[i]),
        interval=bounds_or_none(statistics.low[i], statistics.high[i]),
        t=_number(statistics.t[i]),
        p_t=float(statistics.p_t[i]),
        p_t_holm=float(statistics.p_t_holm[i]),
        p_flip=float(statistics.p_flip[i]),
        p_flip_holm=float(statistics.p_flip_holm[i]),
        significant=bool(statistics.p_t_holm[i] <= settings.alpha),
        wins=int(statistics.wins[i]),
        ties=int(statistics.ties[i]),
        losses=int(statistics.losses[i]),
        detectable=detectable_difference(float(statistics.sd[i]), n, alpha=settings.alpha, power=settings.power),
        by=by,
    )


def _without_width(statistics: Pairs, copies: Mask) -> Pairs:
    """Copies of one file do not differ on any thread."""
    point = copies & ~np.isnan(statistics.low)
    return statistics._replace(low=np.where(point, 0.0, statistics.low), high=np.where(point, 0.0, statistics.high))


def _effects(a: Ints, b: Ints, selection: Selection, copies: Mask, settings: Settings) -> list[Effects]:
    """Return the effect of each pair in each group."""
    effects: list[Effects] = [{} for _ in a]
    for (grouping, group), part in selection.parts.items():
        statistics = _without_width(compare_pairs(a, b, part, confidence=settings.confidence), copies)
        n = len(part.values)
        for i, by in enumerate(effects):
            by.setdefault(grouping, {})[group] = Effect(
                n=n,
                difference=float(statistics.difference[i]),
                interval=bounds_or_none(statistics.low[i], statistics.high[i]),
                small=n < SMALL_GROUP,
                interval_method=method_of(n, large=False),
                interval_reason=why_no_interval(n),
            )
    return effects


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
