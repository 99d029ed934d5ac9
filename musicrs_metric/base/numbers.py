"""Formats of numbers and names in tables and sentences. No other module rounds a number for a reader.

The formats of percentages differ on purpose. Several are part of file formats that other programs compare:

| function | example | used by |
|---|---|---|
| `percent` | `16.51`, `-0.00` | tables of scores, reports, audits |
| `percent_no_negative_zero` | `16.51`, `0.00` | comparisons and the leaderboard |
| `points` | `+1.20`, `−1.20` (typographic minus) | differences in reports |
| `ascii_points` | `+1.20`, `-1.20` | differences in audits |
"""

from __future__ import annotations

from collections.abc import Sequence

UNDEFINED = "–"
MINUS = "−"

MODALITIES = {"audio_only": "audio", "query_only": "query", "audio_query": "audio + query"}
METRICS = {"recall@20": "recall@20", "ndcg@20": "nDCG@20", "mrr": "MRR"}
MACROS = {
    "MM": "mainstream (MM)",
    "IM": "instrumental (IM)",
    "AE": "alternative, electronic (AE)",
    "other": "other",
}

Interval = Sequence[float] | None


def percent(value: float | None) -> str:
    """Write a share in [0, 1] in per cent with two digits, or a dash for None."""
    return UNDEFINED if value is None else f"{100 * value:.2f}"


def fine_percent(value: float | None) -> str:
    """Write a share like `percent`, and one below 1 % with three digits, for chance levels near 0."""
    return percent(value) if value is None or value >= 0.01 else f"{100 * value:.3f}"


def percent_no_negative_zero(value: float | None) -> str:
    """Write a share like `percent`, and a tiny negative one as 0.00 instead of -0.00."""
    return percent(None if value is None else round(value, 4) + 0.0)


def percent_range(interval: Interval) -> str:
    """Write an interval of shares such as "15.10–17.94"."""
    return UNDEFINED if interval is None else f"{percent(interval[0])}–{percent(interval[1])}"


def percent_bounds(interval: Interval) -> str:
    """Write an interval of shares with one digit, such as "[15.1, 17.9]"."""
    return UNDEFINED if interval is None else f"[{interval[0] * 100:.1f}, {interval[1] * 100:.1f}]"


def percent_with_interval(value: float, interval: Interval, *, signed: bool = False) -> str:
    """Write a share with its interval, such as "16.51 [15.10, 17.94]".

    Args:
        value: The share.
        interval: Its bounds, or None if it has no interval.
        signed: Whether a positive value gets a plus sign.
    """
    text = percent_no_negative_zero(value)
    text = f"+{text}" if signed and float(text) > 0 else text
    if interval is None:
        return text
    return f"{text} [{percent_no_negative_zero(interval[0])}, {percent_no_negative_zero(interval[1])}]"


def points(value: float | None) -> str:
    """Write a difference of shares in percentage points, with its sign and a typographic minus."""
    return UNDEFINED if value is None else ascii_points(value).replace("-", MINUS)


def ascii_points(value: float) -> str:
    """Write a difference of shares in percentage points, with its sign and a hyphen as minus."""
    return f"{100 * value:+.2f}"


def points_bounds(interval: Interval) -> str:
    """Write an interval of a difference, such as "[−0.50, +1.20]"."""
    return UNDEFINED if interval is None else f"[{points(interval[0])}, {points(interval[1])}]"


def p_value(value: float) -> str:
    """Write a p value with three digits, such as ".032" or "< .001"."""
    return "< .001" if value < 0.001 else f"{value:.3f}".removeprefix("0")


def thousands(number: int) -> str:
    """Write a whole number with commas between thousands."""
    return f"{number:,}"


def quantity(number: float) -> str:
    """Write a number with commas between thousands and at most one decimal digit."""
    return f"{number:,.1f}".removesuffix(".0")


def rank_range(interval: tuple[int, int] | None) -> str:
    """Write an interval of ranks: "1–3", or "2" if its ends are equal."""
    if interval is None:
        return UNDEFINED
    return str(interval[0]) if interval[0] == interval[1] else f"{interval[0]}–{interval[1]}"


def plural(number: int, noun: str) -> str:
    """Write a number with commas and its noun: "1 thread", "1,000 threads".

    Messages use `musicrs_metric.errors.count`, which writes no commas.
    """
    return f"{thousands(number)} {noun}{'' if number == 1 else 's'}"


def listing(words: Sequence[str]) -> str:
    """Join words as in a sentence: "a, b and c"."""
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def modality_label(name: str) -> str:
    """Return a modality as readers know it."""
    return MODALITIES.get(name, name)


def measure_label(name: str) -> str:
    """Return a measure as papers write it."""
    return METRICS.get(name, name)
