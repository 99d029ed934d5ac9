"""Rows of the table as plain JSON types, for programs and for spreadsheets."""

from __future__ import annotations

from typing import Any

from musicrs_metric.compare import HEADLINE
from musicrs_metric.compare.results import Standing
from musicrs_metric.runs.run_card import RunCard

from .status import marks
from .table_rows import MEASURES, TableRow, parameters_of

FACTS = ("parameters", "licence", "model_id", "model_revision", "trained", "wall_time_s", "hardware")


def plain_row(row: TableRow, *, details: bool = True) -> dict[str, Any]:
    """Return a row of the table as plain JSON types. Unknown values are None.

    Args:
        row: The row.
        details: True for all known values, instead of the columns of the table.
    """
    shown = {
        "kind": row.kind,
        "name": row.label,
        "key": row.key,
        "modality": row.modality,
        "paradigm": row.paradigm,
        "reads": row.reads,
        "open_weights": row.open_weights,
        "audio_coverage": row.audio_coverage,
        "n": row.n,
        "n_peers": None if row.submission is None else row.submission.peers,
        "unranked": None if row.submission is None else row.submission.unranked,
        "status": row.status,
        "marks": None if row.submission is None else list(marks(row.submission)),
    }
    measures = MEASURES if details else HEADLINE
    values = {name: row.values[name] for name in measures if name in row.values}
    interval = {name: list(row.interval[name]) for name in measures if name in row.interval}
    standings = {metric: _plain_standing(standing, row, details=details) for metric, standing in row.standings.items()}
    scores: dict[str, Any] = {"values": values, "interval": interval, "standings": standings}
    if standings:
        scores["verdict_rule"] = row.verdict_rule
    return shown | (_details(row) if details else {}) | scores


def _details(row: TableRow) -> dict[str, Any]:
    submission = row.submission
    if submission is None:
        return {}
    entry, scores = submission.entry, submission.scores
    return {
        "pools": submission.design,
        "other_data": submission.other_data,
        "link": entry.link,
        "code_link": entry.code_link,
        "sender": entry.shown_sender,
        "description": entry.description,
        **facts(entry.card),
        "partial": entry.partial,
        "received_at": entry.received_at,
        "n_missing": scores.n_missing,
        "n_unknown": scores.n_unknown,
        "n_duplicate": scores.n_duplicate,
        "answered": row.answered,
        "outcomes": {outcome or "not stated": share for outcome, share in row.outcomes.items()},
    }


def facts(card: RunCard) -> dict[str, Any]:
    """Return the facts that a run card states about model and run. Unknown values are None."""
    return {name: parameters_of(card) if name == "parameters" else getattr(card, name) for name in FACTS}


def _plain_standing(standing: Standing, row: TableRow, *, details: bool) -> dict[str, Any]:
    values: dict[str, Any] = {
        "rank": standing.rank if row.is_ranked else None,
        "group": standing.group if row.is_ranked else None,
        "to_chance": None if standing.chance is None else standing.chance.verdict,
        "to_chance_n": None if standing.chance is None else standing.chance.n,
    }
    if details:
        values["rank_interval"] = list(standing.rank_interval) if standing.rank_interval and row.is_ranked else None
    return values
