"""How numbers and names are written in a report: the only place where one is rounded."""

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
    """A score in [0, 1] as the paper writes it: per cent, two digits."""
    return UNDEFINED if value is None else f"{value * 100:.2f}"


def percents(interval: Interval) -> str:
    """An interval of a score, in per cent with one digit."""
    return UNDEFINED if interval is None else f"[{interval[0] * 100:.1f}, {interval[1] * 100:.1f}]"


def points(value: float | None) -> str:
    """A difference of scores in percentage points, with its sign."""
    return UNDEFINED if value is None else f"{value * 100:+.2f}".replace("-", MINUS)


def points_interval(interval: Interval) -> str:
    """An interval of a difference."""
    return UNDEFINED if interval is None else f"[{points(interval[0])}, {points(interval[1])}]"


def count(number: int) -> str:
    """A whole number with commas between thousands."""
    return f"{number:,}"


def quantity(number: float) -> str:
    """A number with at most one digit behind the point."""
    return f"{number:,.1f}".removesuffix(".0")


def ranks(interval: tuple[int, int] | None) -> str:
    """An interval of a rank."""
    if interval is None:
        return UNDEFINED
    return str(interval[0]) if interval[0] == interval[1] else f"{interval[0]}–{interval[1]}"


def plural(number: int, noun: str) -> str:
    """A count with its noun: "1 thread", "2 threads"."""
    return f"{count(number)} {noun}{'' if number == 1 else 's'}"


def listing(words: Sequence[str]) -> str:
    """Words as in a sentence: "a, b and c"."""
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def modality(name: str) -> str:
    """A modality as a reader says it."""
    return MODALITIES.get(name, name)


def metric(name: str) -> str:
    """A measure as papers write it."""
    return METRICS.get(name, name)
