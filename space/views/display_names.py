"""How the page calls things."""

from __future__ import annotations

from collections.abc import Mapping

from musicrs_metric.base import numbers
from musicrs_metric.compare.results import Bounds

MODALITIES: Mapping[str, str] = {"audio_query": "Audio + query", "query_only": "Query only", "audio_only": "Audio only"}
PARADIGMS: Mapping[str, str] = {"generative": "Generative", "retrieval": "Retrieval", "traditional": "Traditional"}
READS: Mapping[str, str] = {
    "thread": "Its own thread alone",
    "pools": "Other threads’ pools",
    "labels": "Other threads’ answers",
}
READS_NOTES: Mapping[str, str] = {
    "thread": "query, post, clips and pool of the thread that is asked",
    "pools": "also what other threads ask or offer, without their answers",
    "labels": "also what is right in other threads",
}
WEIGHTS: Mapping[str, str] = {"open": "Open", "closed": "Closed"}
VERDICTS: Mapping[str, str] = {"above": "▲ above", "at": "● at", "below": "▼ below"}
TABS: Mapping[str, str] = {
    "leaderboard": "Leaderboard", "compare": "Compare", "genres": "Genres", "threads": "Threads", "submit": "Submit",
    "about": "About",
}  # fmt: skip
METRICS = numbers.METRICS
SORTS: Mapping[str, str] = {
    **METRICS, "name": "System", "received": "Date", "coverage": "Audio coverage",
}  # fmt: skip
NOTHING = numbers.UNDEFINED

percent, points, plural = numbers.percent, numbers.points, numbers.plural
points_interval, modality = numbers.points_bounds, numbers.modality_label


def metric(name: str) -> str:
    """A measure as papers write it."""
    return numbers.measure_label(name).replace("ndcg", "nDCG")


def bounds(interval: Bounds | None) -> str:
    """An interval of a score in per cent, short: "26.0–29.9"."""
    return NOTHING if interval is None else f"{interval[0] * 100:.1f}–{interval[1] * 100:.1f}"


def share(value: float | None) -> str:
    """A share in whole per cent."""
    return NOTHING if value is None else f"{value:.0%}".replace("%", " %")


def day(moment: str | None) -> str:
    """The date of a moment in ISO 8601."""
    return (moment or NOTHING)[:10]
