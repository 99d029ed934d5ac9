"""Rankings from scores: the order that every system of the project uses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..errors import UserError, plain, show


def rank_by_score(
    candidates: Sequence[str], scores: Sequence[float] | npt.NDArray[np.floating] | npt.NDArray[np.integer]
) -> list[str]:
    """Order candidates by score, best first. Among equal scores the position in the pool decides.

    Args:
        candidates: The pool in stored order, n titles.
        scores: Shape (n,): one number per candidate, higher is better. Infinities are allowed.

    Returns:
        All candidates, best first.

    Raises:
        UserError: The lengths differ, or a score is NaN or no number. The message names the candidate. Some libraries
            sort NaN first and others last, so it has no correct rank.

    Examples:
        >>> rank_by_score(["So What", "Naima", "Solar"], [0.5, 2.0, 0.5])
        ['Naima', 'So What', 'Solar']
    """
    if len(candidates) != len(scores):
        raise UserError(f"found {len(scores)} scores for {len(candidates)} candidates, expected one each")
    raw = np.asarray(scores)
    values = raw.astype(np.float64) if raw.dtype.kind in "iuf" else np.array([_number(score) for score in scores])
    bad = np.flatnonzero(np.isnan(values))
    if len(bad):
        place = int(bad[0])
        score = scores[place]
        shown = show(score.item() if isinstance(score, np.generic) else score)
        raise UserError(f"the score of {plain(candidates[place])} is {shown}, expected a number")
    # Negating and sorting stably keeps the pool's order among ties; reversing an ascending sort would turn it round.
    return [candidates[place] for place in np.argsort(-values, kind="stable")]


def _number(score: object) -> float:
    return float(score) if isinstance(score, int | float | np.number) else np.nan
