"""Ticks of a value axis at round numbers, decided here so that a figure shows no number that its data lack."""

from __future__ import annotations

import math
from collections.abc import Iterable

_STEPS = (1, 2, 5, 10)


def ticks(values: Iterable[float | None], *, most: int = 5) -> tuple[float, ...]:
    """Ticks from 0 to past the largest value.

    Args:
        values: What is drawn, at least 0; None is passed over.
        most: Intervals between ticks, at most.

    Returns:
        Multiples of 1, 2 or 5 times a power of ten; (0, 1) where nothing is above 0.
    """
    top = max((value for value in values if value is not None), default=0.0)
    if top <= 0:
        return (0.0, 1.0)
    scale: float = 10.0 ** math.floor(math.log10(top / most))
    step = next(step * scale for step in _STEPS if step * scale * most >= top * (1 - 1e-9))
    # Rounding removes what binary fractions add to 3 * 0.1.
    return tuple(round(step * i, 10) for i in range(math.ceil(top / step - 1e-9) + 1))
