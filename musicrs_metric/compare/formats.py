"""Numbers as tables show them: shares in per cent with two decimals, p values with three."""

from __future__ import annotations

from ..runs import score_tables as tables
from .results import Bounds

NOTHING = "–"


def percent(value: float | None) -> str:
    """A share in per cent, or a dash for None."""
    # Adding 0 turns the -0 of a tiny negative difference into 0.
    return tables.percent(None if value is None else round(value, 4) + 0.0)


def with_interval(value: float, bounds: Bounds | None, *, signed: bool = False) -> str:
    """A share with its interval, such as "16.51 [15.10, 17.94]".

    Args:
        value: The share.
        bounds: Its interval; None where there is none.
        signed: Whether a positive value gets its plus sign.
    """
    text = percent(value)
    text = f"+{text}" if signed and float(text) > 0 else text
    return text if bounds is None else f"{text} [{percent(bounds[0])}, {percent(bounds[1])}]"


def p_value(value: float) -> str:
    """A p value, such as ".032" or "< .001"."""
    return "< .001" if value < 0.001 else f"{value:.3f}".removeprefix("0")
