"""Late fusion: two rankings of a pool made into one, from ranks or from scores.

rrf     A candidate scores w / (60 + rank in A) + (1 - w) / (60 + rank in B). G. Cormack et al., Reciprocal rank fusion
        outperforms Condorcet and individual rank learning methods, SIGIR 2009, doi:10.1145/1571941.1572114; theirs has
        no weights.
zscore  w * z in A + (1 - w) * z in B, where z is the score minus the mean, over the standard deviation (of all items,
        not of a sample), of the system's scores in this thread; equal scores are all 0.

A candidate that only one of the two ranks counts as the other's last: it gets nothing for a rank, and the lowest z.
Ties go to the candidate that A ranks higher, then to the one that B does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np

from musicrs_metric.errors import UserError
from musicrs_metric.runs.predictions import Prediction

Method = Literal["rrf", "zscore"]
_K = 60


def fuse(a: Prediction, b: Prediction, method: Method = "rrf", weight: float = 0.5) -> Prediction:
    """Fuse two answers to one thread.

    Args:
        a: The first answer.
        b: The second answer, to the same thread.
        method: See the module.
        weight: The first one's share, 0 to 1.

    Returns:
        The candidates that either system itself placed, best first, with their fused scores. Behind them, and then
        without scores, come those that were only appended to fill an answer up; a random order that stands in for a
        failure has no say. Where one system placed nothing, the other's order is kept. The outcome is the first of
        the two that is not "ok".

    Raises:
        UserError: Scores are asked for and an answer has none.
    """
    values = [_VALUES[method](own) for own in (_answered(a), _answered(b))]
    shares = (weight, 1 - weight)
    if not all(values):  # one has no say at all: its lowest value is not known
        values, shares = [value for value in values if value], (1.0, 1.0)
    lowest = [0.0 if method == "rrf" else min(value.values()) for value in values]
    names = list(dict.fromkeys(name for value in values for name in value))
    fused = {
        name: sum(share * value.get(name, low) for share, value, low in zip(shares, values, lowest, strict=False))
        for name in names
    }
    ranking = sorted(names, key=lambda name: -fused[name])
    rest = [name for name in dict.fromkeys(a.ranking + b.ranking) if name not in fused]
    return Prediction(
        thread_id=a.thread_id,
        ranking=(*ranking, *rest),
        scores=None if rest or not ranking else tuple(fused[name] for name in ranking),
        outcome=next((p.outcome for p in (a, b) if p.outcome not in (None, "ok")), None),
        n_answered=len(ranking) if rest else None,
    )


def _answered(prediction: Prediction) -> Prediction:
    """Without what was appended."""
    n = len(prediction.ranking) if prediction.n_answered is None else prediction.n_answered
    scores = None if prediction.scores is None else prediction.scores[:n]
    return Prediction(prediction.thread_id, prediction.ranking[:n], scores)


def _by_rank(prediction: Prediction) -> Mapping[str, float]:
    distinct = dict.fromkeys(prediction.ranking)
    return {name: 1 / (_K + rank) for rank, name in enumerate(distinct, 1)}


def _by_score(prediction: Prediction) -> Mapping[str, float]:
    if prediction.scores is None and prediction.ranking:
        raise UserError(f"thread {prediction.thread_id}: has no scores; --method rrf needs none")
    first: dict[str, float] = {}
    for name, score in zip(prediction.ranking, prediction.scores or (), strict=True):
        first.setdefault(name, score)
    values = np.fromiter(first.values(), dtype=np.float64)
    spread = values.std() if len(values) else 0.0
    standard = (values - values.mean()) / spread if spread else np.zeros(len(values))
    return dict(zip(first, standard.tolist(), strict=True))


_VALUES: dict[Method, Callable[[Prediction], Mapping[str, float]]] = {"rrf": _by_rank, "zscore": _by_score}
