"""Student's t distribution from scipy, which is loaded only when two systems are really compared."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import UserError
from ..measures import Floats


def two_sided_p(t: Floats, df: int) -> Floats:
    """Probability of a t value at least as far from 0 as `t`.

    Args:
        t: Any shape.
        df: Degrees of freedom, at least 1.

    Returns:
        Same shape, in [0, 1].

    Raises:
        UserError: scipy is not installed.
    """
    p: Floats = 2 * np.asarray(_special().stdtr(df, -np.abs(t)))
    return p


def quantile(probability: float, df: int) -> float:
    """The t value below which `probability` of the distribution lies.

    Args:
        probability: Between 0 and 1.
        df: Degrees of freedom, at least 1.

    Raises:
        UserError: scipy is not installed.
    """
    return float(_special().stdtrit(df, probability))


def _special() -> Any:
    try:
        from scipy import special
    except ImportError as error:
        raise UserError(
            "comparing systems needs scipy, which was not found; install it with `pip install 'musicrs[report]'`"
        ) from error
    return special
