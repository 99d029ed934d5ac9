"""What the order of the pool does to a system's rankings, from its rankings of the same pools in several orders.

score               The mean over the orders, thread by thread; its interval is over threads.
sd_between_orders   Standard deviation, over the orders, of the mean score: how far one order's score is luck.
sd_within_thread    Standard deviation over the orders of one thread's score, averaged over threads.
agreement           Spearman's correlation of two rankings of one pool, averaged over pairs of orders and over threads.
position_bias       How many ranks a candidate falls for each place that it stands further down: the slope of its rank
                    on its place, both as deviations from the candidate's own means over the orders, per thread, and
                    averaged over threads. A system that gives the pool back as it is shown has 1, one that ranks it
                    from the end -1, and one that ignores the order exactly 0, since no candidate of it ever moves.

A slope sees a system that prefers the beginning or the end, not one that prefers both to the middle; agreement and the
standard deviations see either. Standard deviations are those of a sample (ddof = 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from musicrs_metric.intervals import mean_intervals
from musicrs_metric.matching import Pool
from musicrs_metric.runs.predictions import Prediction
from musicrs_metric.runs.read import score_predictions
from musicrs_metric.runs.references import References
from musicrs_metric.scoring import Scores, ThreadTable, summarise

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class OrderEffects:
    """See `baselines.run.order_effects`.

    Attributes:
        scores: Of the mean over the orders. Unknown and repeated titles are those of all orders.
        by_order: Measure name to mean score, one entry per order.
        sd_between_orders: Measure name to standard deviation.
        sd_within_thread: Measure name to mean standard deviation.
        agreement: -1 to 1; None where no thread has two rankings in which candidates differ in rank.
        position_bias: None where no pool was shown in two different orders.
        position_bias_interval: Its interval over threads; None where the threads are too few.
    """

    scores: Scores
    by_order: list[dict[str, float | None]]
    sd_between_orders: dict[str, float]
    sd_within_thread: dict[str, float]
    agreement: float | None
    position_bias: float | None
    position_bias_interval: tuple[float, float] | None

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        return {"shuffles": len(self.by_order)} | values | {"scores": self.scores.to_dict()}


def order_effects(
    shown: Sequence[Sequence[Sequence[str]]], given: Sequence[Sequence[Prediction]], references: References
) -> OrderEffects:
    """Compare rankings of the same pools in several orders.

    Args:
        shown: For each of at least two orders the pools of all threads, as they were shown.
        given: The predictions made of them.
        references: The threads, in the order of `shown` and `given`.
    """
    tables = [score_predictions(predictions, references, confidence=None).table for predictions in given]
    values = {name: np.stack([table.values[name] for table in tables]) for name in tables[0].values}
    # Relative to the first order, equal values have no deviation at all, not one of rounding.
    sd_within = {name: float((v - v[0]).std(axis=0, ddof=1).mean()) for name, v in values.items()}
    means = {name: v.mean(axis=1) for name, v in values.items()}
    agreement, bias = _movements(shown, given, references)
    return OrderEffects(
        scores=summarise(_mean_table(tables, values)),
        by_order=[{name: float(of_order[k]) for name, of_order in means.items()} for k in range(len(tables))],
        sd_between_orders={name: float((m - m[0]).std(ddof=1)) for name, m in means.items()},
        sd_within_thread=sd_within,
        agreement=float(agreement.mean()) if len(agreement) else None,
        position_bias=float(bias.mean()) if len(bias) else None,
        position_bias_interval=_bias_interval(bias),
    )


def _bias_interval(bias: Floats) -> tuple[float, float] | None:
    # A slope leaves -1 to 1 only where the drawn orders barely move the candidates.
    limits = min(-1.0, bias.min(initial=0.0)), max(1.0, bias.max(initial=0.0))
    found = mean_intervals(bias[:, None], bounds=limits)
    if found is None:
        return None
    if not bias.any():  # no candidate ever moved: the system ignores the order, in these threads and in others
        return 0.0, 0.0
    return float(found.low[0]), float(found.high[0])


def ranks(items: Sequence[str], pool: Pool) -> Floats:
    """Rank of every distinct candidate in a list, from 1; those that the list lacks share the mean of the ranks left.

    Args:
        items: A ranking, or the pool as it was shown.
        pool: The pool of n distinct candidates.

    Returns:
        Shape (n,), in the order of the pool.
    """
    named = dict.fromkeys(place for item in items if (place := pool.resolve(item)) is not None)
    rank = {place: float(number) for number, place in enumerate(named, 1)}
    left = (len(named) + 1 + len(pool)) / 2
    return np.array([rank.get(place, left) for place in pool.place.values()])


def _mean_table(tables: Sequence[ThreadTable], values: dict[str, Floats]) -> ThreadTable:
    """The table of the means; what is counted is that of all orders."""
    counts = {
        name: np.sum([getattr(table.hits, name) for table in tables], axis=0) for name in ("n_unknown", "n_duplicate")
    }
    hits = replace(tables[0].hits, **counts)
    return replace(tables[0], hits=hits, values={name: v.mean(axis=0) for name, v in values.items()})


def _movements(
    shown: Sequence[Sequence[Sequence[str]]], given: Sequence[Sequence[Prediction]], references: References
) -> tuple[Floats, Floats]:
    """Agreement and position bias of the threads in which they are defined."""
    agreements, biases = [], []
    for thread, candidates in enumerate(references.candidates):
        pool = Pool(candidates)
        place = np.stack([ranks(pools[thread], pool) for pools in shown])
        rank = np.stack([ranks(predictions[thread].ranking, pool) for predictions in given])
        agreements.append(mean_correlation(rank))
        biases.append(slope(place, rank))
    return _defined(agreements), _defined(biases)


def mean_correlation(rank: Floats) -> float:
    """Mean of Pearson's correlation over all pairs of rows.

    Args:
        rank: Shape (K, n), K at least 2.

    Returns:
        -1 to 1; NaN where a row is constant.
    """
    centred = rank - rank.mean(axis=1, keepdims=True)
    length = np.sqrt((centred**2).sum(axis=1, keepdims=True))
    if not length.all():
        return np.nan
    k = len(rank)
    # The squared length of a sum of unit vectors: k, and twice each pair's product.
    return float((((centred / length).sum(axis=0) ** 2).sum() - k) / (k * (k - 1)))


def slope(place: Floats, rank: Floats) -> float:
    """Slope of rank on place within candidates.

    Args:
        place: Shape (K, n): places of n candidates in K orders.
        rank: Shape (K, n): ranks given to them.

    Returns:
        1 where each candidate's rank follows its place, 0 where ranks stay; NaN where places do.
    """
    moved, followed = place - place.mean(axis=0), rank - rank.mean(axis=0)
    spread = (moved**2).sum()
    return float((moved * followed).sum() / spread) if spread else np.nan


def _defined(values: list[float]) -> Floats:
    return np.array([value for value in values if not np.isnan(value)])
