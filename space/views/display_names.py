"""Names and numbers as the page shows them."""

from __future__ import annotations

from collections.abc import Mapping

from musicrs_metric.base import numbers
from musicrs_metric.compare.results import Bounds

MODALITIES: Mapping[str, str] = {"audio_query": "Audio + query", "query_only": "Query only", "audio_only": "Audio only"}
PARADIGMS: Mapping[str, str] = {"generative": "Generative", "retrieval": "Retrieval", "traditional": "Traditional"}
READS: Mapping[str, str] = {
    "thread": "Own thread only",
    "pools": "Pools of other threads",
    "labels": "Labels of other threads",
}
READS_NOTES: Mapping[str, str] = {
    "thread": "query, post, clips and pool of the thread",
    "pools": "also queries, posts and pools of other threads, without their ground truth",
    "labels": "also the ground truth of other threads",
}
WEIGHTS: Mapping[str, str] = {"open": "Open", "closed": "Closed"}
STATUS: Mapping[str, str] = {"code": "With code", "reproduced": "Reproduced"}
REPORTED: Mapping[str, str] = {"yes": "Best input of each system", "all": "All inputs", "no": "Hidden"}
VERDICTS: Mapping[str, str] = {"above": "▲ above", "at": "● at", "below": "▼ below"}
TABS: Mapping[str, str] = {
    "leaderboard": "Leaderboard", "compare": "Compare", "genres": "Genres", "trends": "Size and date",
    "threads": "Threads", "submit": "Submit", "about": "About",
}  # fmt: skip
METRICS = numbers.METRICS
SORTS: Mapping[str, str] = {
    **METRICS, "name": "System", "received": "Date", "coverage": "Audio coverage",
}  # fmt: skip
NOTHING = numbers.UNDEFINED

percent, points, plural = numbers.percent, numbers.points, numbers.plural
points_interval, modality = numbers.points_bounds, numbers.modality_label


def metric(name: str) -> str:
    """Return a measure in the spelling of papers."""
    return numbers.measure_label(name).replace("ndcg", "nDCG")


def bounds(interval: Bounds | None) -> str:
    """Return the interval of a score in per cent, such as "26.0–29.9"."""
    return NOTHING if interval is None else f"{interval[0] * 100:.1f}–{interval[1] * 100:.1f}"


def share(value: float | None) -> str:
    """Return a share in whole per cent."""
    return NOTHING if value is None else f"{value:.0%}".replace("%", " %")


def day(moment: str | None) -> str:
    """Return the date of a time in ISO 8601."""
    return (moment or NOTHING)[:10]
