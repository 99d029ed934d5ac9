"""Effects of the order of the pool on the rankings of a system, from rankings of the same pools in several orders.

score               Mean over the orders, thread by thread. Its interval is over threads.
sd_between_orders   Standard deviation of the mean score over the orders: the random part of the score of one order.
sd_within_thread    Standard deviation of the score of one thread over the orders, averaged over threads.
agreement           Spearman's correlation of two rankings of one pool, averaged over pairs of orders and over threads.
position_bias       Ranks that a candidate loses per position further down in the pool: the slope of its rank on its
                    position, both as deviations from its own means over the orders, per thread, and averaged over
                    threads. It is 1 for a system that returns the pool as it is shown, -1 for one that reverses it, and
                    exactly 0 for one that ignores the order, because its candidates never move.

A slope detects a system that prefers the beginning or the end, but not one that prefers both to the middle. Agreement
and the standard deviations detect either. Standard deviations are those of a sample (ddof = 1).
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
        scores: Scores of the mean over the orders. Unknown and repeated titles are those of all orders.
        by_order: Measure name to mean score, one entry per order.
        sd_between_orders: Measure name to standard deviation.
        sd_within_thread: Measure name to mean standard deviation.
        agreement: -1 to 1; None if no thread has two rankings in which candidates differ in rank.
        position_bias: None if no pool was shown in two different orders.
        position_bias_interval: Its interval over threads; None if there are too few threads.
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
    shown: Sequence[Sequence[Sequence[str]]], predicted: Sequence[Sequence[Prediction]], references: References
) -> OrderEffects:
    """Compare rankings of the same pools in several orders.

    Args:
        shown: For each of at least two orders, the pools of all threads as shown to the system.
        predicted: For each order, the predictions.
        references: The threads, in the order of `shown` and `predicted`.
    """
    tables = [score_predictions(predictions, references, confidence=None).table for predictions in predicted]
    values = {name: np.stack([table.values[name] for table in tables]) for name in tables[0].values}
    # Relative to the first order, equal values deviate by exactly 0, without rounding errors.
    sd_within = {name: float((v - v[0]).std(axis=0, ddof=1).mean()) for name, v in values.items()}
    means = {name: v.mean(axis=1) for name, v in values.items()}
    agreement, bias = _movements(shown, predicted, references)
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
    # A slope is outside of -1 to 1 only if the drawn orders barely move the candidates.
    bounds = min(-1.0, bias.min(initial=0.0)), max(1.0, bias.max(initial=0.0))
    interval = mean_intervals(bias[:, None], bounds=bounds)
    if interval is None:
        return None
    if not bias.any():  # no candidate ever moved: the system ignores the order, in these threads and in others
        return 0.0, 0.0
    return float(interval.low[0]), float(interval.high[0])


def ranks(items: Sequence[str], pool: Pool) -> Floats:
    """Return the rank of every distinct candidate in a list, from 1.

    Candidates that the list lacks share the mean of the remaining ranks.

    Args:
        items: A ranking, or the pool as it was shown.
        pool: The pool of n distinct candidates.

    Returns:
        Shape (n,), in the order of the pool.
    """
    listed = dict.fromkeys(index for item in items if (index := pool.resolve(item)) is not None)
    rank = {index: float(number) for number, index in enumerate(listed, 1)}
    remaining = (len(listed) + 1 + len(pool)) / 2
    return np.array([rank.get(index, remaining) for index in pool.place.values()])


def _mean_table(tables: Sequence[ThreadTable], values: dict[str, Floats]) -> ThreadTable:
    """Return the table of the means, with the counts of all orders."""
    counts = {
        name: np.sum([getattr(table.hits, name) for table in tables], axis=0) for name in ("n_unknown", "n_duplicate")
    }
    hits = replace(tables[0].hits, **counts)
    return replace(tables[0], hits=hits, values={name: v.mean(axis=0) for name, v in values.items()})


def _movements(
    shown: Sequence[Sequence[Sequence[str]]], predicted: Sequence[Sequence[Prediction]], references: References
) -> tuple[Floats, Floats]:
    """Return agreement and position bias of the threads in which they are defined."""
    agreements, biases = [], []
    for thread, candidates in enumerate(references.candidates):
        pool = Pool(candidates)
        position = np.stack([ranks(pools[thread], pool) for pools in shown])
        rank = np.stack([ranks(predictions[thread].ranking, pool) for predictions in predicted])
        agreements.append(mean_correlation(rank))
        biases.append(slope(position, rank))
    return _defined(agreements), _defined(biases)


def mean_correlation(rank: Floats) -> float:
    """Return the mean of Pearson's correlation over all pairs of rows.

    Args:
        rank: Shape (K, n), K at least 2.

    Returns:
        -1 to 1; NaN if a row is constant.
    """
    centred = rank - rank.mean(axis=1, keepdims=True)
    length = np.sqrt((centred**2).sum(axis=1, keepdims=True))
    if not length.all():
        return np.nan
    k = len(rank)
    # The squared length of a sum of k unit vectors is k plus twice the product of each pair.
    return float((((centred / length).sum(axis=0) ** 2).sum() - k) / (k * (k - 1)))


def slope(position: Floats, rank: Floats) -> float:
    """Return the slope of rank on position within candidates.

    Args:
        position: Shape (K, n): positions of n candidates in K orders.
        rank: Shape (K, n): their ranks.

    Returns:
        1 if the rank of each candidate follows its position, 0 if ranks stay; NaN if positions stay.
    """
    moved, followed = position - position.mean(axis=0), rank - rank.mean(axis=0)
    variation = (moved**2).sum()
    return float((moved * followed).sum() / variation) if variation else np.nan


def _defined(values: list[float]) -> Floats:
    return np.array([value for value in values if not np.isnan(value)])
