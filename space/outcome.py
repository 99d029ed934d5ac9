"""Outcome of a submission in figures and in one sentence: score, interval, chance, and rank or why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from musicrs_metric.base.numbers import percent, plural
from musicrs_metric.compare import HEADLINE

from .board.rows import SubmissionRow

ALONE = "no other ranked system reads the same"


def outcome_of(row: SubmissionRow) -> dict[str, dict[str, Any]]:
    """Return measure to score, interval, chance, verdict, and rank or the reason why there is none.

    Args:
        row: The row.

    Returns:
        Plain JSON types for each headline measure. Shares are between 0 and 1, and None is an unknown value.
    """
    return {metric: _of_metric(row, metric) for metric in HEADLINE}


def sentence(outcome: Mapping[str, Mapping[str, Any]], metric: str = HEADLINE[0]) -> str:
    """Return the outcome on one measure in words.

    Args:
        outcome: Result of `outcome_of`.
        metric: The measure.
    """
    of = outcome[metric]
    interval = (
        "" if of["interval"] is None else f" (95 %: {percent(of['interval'][0])} to {percent(of['interval'][1])})"
    )
    chance = f"; chance is {percent(of['chance'])}"
    if of["to_chance"] is not None:
        chance += f", the score is {of['to_chance']} chance"
        if of["to_chance_n"] < of["n"]:
            chance += f" on the {plural(of['to_chance_n'], of['unit'])} with a prediction"
    rank = f"no rank: {of['unranked']}"
    if of["rank"] is not None:
        rank = f"rank {of['rank']} of {of['n_peers']} that read the same, group {of['group']}"
    return f"{metric} {percent(of['score'])}{interval}{chance}; {rank}"


def _of_metric(row: SubmissionRow, metric: str) -> dict[str, Any]:
    scores, standing = row.scores, row.standings.get(metric)
    chance = None if standing is None else standing.chance
    is_ranked = row.is_ranked and standing is not None
    interval = (scores.interval or {}).get(metric)
    return {
        "score": scores.values[metric],
        "interval": None if interval is None else list(interval),
        "chance": (scores.chance or {}).get(metric),
        "n": scores.n,
        "unit": scores.unit,
        "to_chance": None if chance is None else chance.verdict,
        "to_chance_n": None if chance is None else chance.n,
        "rank": standing.rank if is_ranked and standing is not None else None,
        "group": standing.group if is_ranked and standing is not None else None,
        "n_peers": row.peers,
        "unranked": None if is_ranked else row.unranked or ALONE,
    }
