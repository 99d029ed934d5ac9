"""Exports of the table: Markdown and LaTeX for papers, CSV for spreadsheets. All are safe for names of any content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from musicrs_metric.base.text import csv_line
from musicrs_metric.chance import VERDICT_RULE
from musicrs_metric.compare import HEADLINE
from musicrs_metric.compare.formats import NOTHING, percent, with_interval
from musicrs_metric.compare.render import latex, markdown
from musicrs_metric.compare.tables import AMONG, Cell, Sheet

from .table_rows import MEASURES, TableRow

ExportFormat = Literal["markdown", "csv", "latex"]

_SUFFIX: Mapping[ExportFormat, str] = {"markdown": ".md", "csv": ".csv", "latex": ".tex"}


def export(rows: Sequence[TableRow], form: ExportFormat, *, title: str = "MusiCRS leaderboard") -> str:
    """Write rows of the table as text.

    Args:
        rows: The rows in their order.
        form: "markdown", "latex" (for `booktabs`) or "csv".
        title: Title of the table.

    Returns:
        The text of a file.
    """
    if form == "csv":
        return _csv(rows)
    sheet = _sheet(rows, title)
    return markdown([sheet]) if form == "markdown" else latex([sheet])


def file_name_of(form: ExportFormat) -> str:
    """Return the file name for a format."""
    return f"musicrs-leaderboard{_SUFFIX[form]}"


def _sheet(rows: Sequence[TableRow], title: str) -> Sheet:
    cells = tuple(
        (
            Cell(f"{row.label} (reported)" if row.kind == "reported" else row.label),
            Cell(row.modality or NOTHING),
            Cell(row.reads or NOTHING),
            *(_score(row, metric) for metric in HEADLINE),
            Cell(_group(row)),
            Cell(str(row.n or NOTHING)),
            Cell(percent(row.audio_coverage)),
            Cell(percent(row.answered)),
        )
        for row in rows
    )
    notes = (
        f"bold: best; underlined: not significantly different from the best (paired t, Holm over all pairs){AMONG}",
        "reported: results of the paper, which cannot be recomputed",
    )
    columns = ("System", "modality", "reads", *HEADLINE, f"group ({HEADLINE[0]})", "n", "audio %", "answered %")
    return Sheet(f"{title}: scores in % [95 % interval]", columns, cells, notes, n_text=3)


def _score(row: TableRow, metric: str) -> Cell:
    value, standing = row.values.get(metric), row.standings.get(metric)
    text = NOTHING if value is None else with_interval(value, row.interval.get(metric))
    if standing is None or not row.is_ranked:
        return Cell(text)
    return Cell(text, "best" if standing.rank == 1 else "tied" if standing.group == 1 else "")


def _group(row: TableRow) -> str:
    standing = row.standings.get(HEADLINE[0])
    return str(standing.group) if standing is not None and row.is_ranked else NOTHING


def _csv(rows: Sequence[TableRow]) -> str:
    """Write one line per row with numbers at full precision. Shares are between 0 and 1."""
    about = ["kind", "name", "modality", "paradigm", "reads", "open_weights", "n", "audio_coverage", "answered", "key"]
    numbers = [f"{name}{part}" for name in MEASURES for part in ("", " low", " high")]
    ranks = [f"{metric} {part}" for metric in HEADLINE for part in ("rank", "group", "to chance", "to chance n")]
    lines = [csv_line([*about, *numbers, *ranks, "verdict rule"])]
    for row in rows:
        first: list[object] = [row.kind, row.label, row.modality, row.paradigm, row.reads, row.open_weights]
        first += [row.n, row.audio_coverage, row.answered, row.key]
        scores = [value for name in MEASURES for value in (row.values.get(name), *row.interval.get(name, (None, None)))]
        standings = [value for metric in HEADLINE for value in _standing(row, metric)]
        rule = VERDICT_RULE if row.standings else None
        lines.append(csv_line((*first, *scores, *standings, rule)))
    return "".join(lines)


def _standing(row: TableRow, metric: str) -> tuple[object, object, object, object]:
    standing = row.standings.get(metric)
    if standing is None:
        return None, None, None, None
    rank, group = (standing.rank, standing.group) if row.is_ranked else (None, None)
    chance = standing.chance
    return (rank, group, *((None, None) if chance is None else (chance.verdict, chance.n)))
