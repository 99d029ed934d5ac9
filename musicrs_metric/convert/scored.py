"""Rankings from scores in files: their numbers, and the order of equal ones."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from ..errors import UserError, show
from ..matching import Pool
from ..runs.prediction_line import Prediction
from ..runs.references import References


def number(value: Any, where: str) -> float:
    """Read a finite number.

    Args:
        value: A number or its text.
        where: The place in messages.

    Raises:
        UserError: It is no number, or not finite.
    """
    try:
        result = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        result = math.nan
    if not math.isfinite(result):
        raise UserError(f"{where}: found {show(value)}, expected a finite number")
    return result


def by_score(
    titles: Sequence[str], scores: Sequence[float], thread: str, references: References
) -> tuple[list[str], list[float]]:
    """Order titles by score, highest first. Of equal scores, the position in the pool decides, then the given order.

    Args:
        titles: Titles in any order.
        scores: One per title.
        thread: Their thread.
        references: The dataset.

    Returns:
        Titles and scores, best first.
    """
    position = references.position.get(thread)
    pool = Pool(() if position is None else references.candidates[position])

    def key(i: int) -> tuple[float, float]:
        place = pool.resolve(titles[i])
        return -scores[i], math.inf if place is None else place

    order = sorted(range(len(titles)), key=key)
    return [titles[i] for i in order], [scores[i] for i in order]


def rank_warning(predictions: Sequence[Prediction], place: str) -> Iterator[str]:
    """Yield a warning if the scores that made the order may be ranks: 1, 2, 3, ... in each thread.

    Args:
        predictions: Rankings in the order of their scores.
        place: Name of the file in messages.
    """
    scores = [sorted(each.scores) for each in predictions if each.scores]
    if any(len(values) > 1 for values in scores) and all(
        values == list(range(int(values[0]), int(values[0]) + len(values))) and values[0] in (0, 1) for values in scores
    ):
        yield (
            f"Warning: {place}: the scores of each thread are 1, 2, 3, ..., as ranks are. The highest counts as the "
            "best. If they are ranks, name their column rank, or list the titles best first."
        )
