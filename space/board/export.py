"""Exports of the table: Markdown and LaTeX for papers, CSV for spreadsheets. All are safe for names of any content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from musicrs_metric.base.numbers import UNDEFINED, percent_no_negative_zero, percent_with_interval
from musicrs_metric.base.renderers.latex import latex_tables
from musicrs_metric.base.renderers.markdown import markdown_sections
from musicrs_metric.base.tables import Cell, Row, Table, cell, columns
from musicrs_metric.base.text import csv_line
from musicrs_metric.compare import HEADLINE
from musicrs_metric.compare.tables import AMONG

from .plain_rows import FACTS, facts
from .status import marks
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
    tables = [_table(rows, title)]
    return markdown_sections(tables) if form == "markdown" else latex_tables(tables)


def file_name_of(form: ExportFormat) -> str:
    """Return the file name for a format."""
    return f"musicrs-leaderboard{_SUFFIX[form]}"


def _table(rows: Sequence[TableRow], title: str) -> Table:
    cells = (
        (
            cell(f"{row.label} (reported)" if row.kind == "reported" else row.label),
            cell(row.modality or UNDEFINED),
            cell(row.reads or UNDEFINED),
            *(_score(row, metric) for metric in HEADLINE),
            cell(_group(row)),
            cell(str(row.n or UNDEFINED)),
            cell(percent_no_negative_zero(row.audio_coverage)),
            cell(percent_no_negative_zero(row.answered)),
            cell(", ".join(part for part in (row.status, _marks(row)) if part) or UNDEFINED),
        )
        for row in rows
    )
    notes = (
        f"bold: best; underlined: not significantly different from the best (paired t, corrected for the "
        f"better systems of the group){AMONG}",
        "reported: results of the paper, which cannot be recomputed",
        "status: declared by the submitter, with a link to the code, or reproduced by the leaderboard owner",
    )
    heads = ("System", "modality", "reads", *HEADLINE, f"group ({HEADLINE[0]})", "n", "audio %", "answered %", "status")
    caption = f"{title}: scores in % [95 % interval]"
    return Table(caption, columns(*heads, n_left=3), tuple(map(Row, cells)), notes)


def _score(row: TableRow, metric: str) -> Cell:
    value, standing = row.values.get(metric), row.standings.get(metric)
    text = UNDEFINED if value is None else percent_with_interval(value, row.interval.get(metric))
    if standing is None or not row.is_ranked:
        return cell(text)
    return cell(text, emphasis="best" if standing.rank == 1 else "tied" if standing.group == 1 else "")


def _group(row: TableRow) -> str:
    standing = row.standings.get(HEADLINE[0])
    return str(standing.group) if standing is not None and row.is_ranked else UNDEFINED


def _csv(rows: Sequence[TableRow]) -> str:
    """Write one line per row with numbers at full precision. Shares are between 0 and 1."""
    about = ["kind", "name", "modality", "paradigm", "reads", "open_weights", "n", "audio_coverage", "answered", "key"]
    numbers = [f"{name}{part}" for name in MEASURES for part in ("", " low", " high")]
    ranks = [f"{metric} {part}" for metric in HEADLINE for part in ("rank", "group", "to chance", "to chance n")]
    lines = [csv_line([*about, *numbers, *ranks, "verdict rule", "status", "marks", "code_link", *FACTS])]
    for row in rows:
        first: list[object] = [row.kind, row.label, row.modality, row.paradigm, row.reads, row.open_weights]
        first += [row.n, row.audio_coverage, row.answered, row.key]
        scores = [value for name in MEASURES for value in (row.values.get(name), *row.interval.get(name, (None, None)))]
        standings = [value for metric in HEADLINE for value in _standing(row, metric)]
        rule = row.verdict_rule if row.standings else None
        lines.append(csv_line((*first, *scores, *standings, rule, row.status, _marks(row), *_facts(row))))
    return "".join(lines)


def _marks(row: TableRow) -> str | None:
    return None if row.submission is None else "; ".join(marks(row.submission)) or None


def _facts(row: TableRow) -> list[object]:
    if row.submission is None:
        return [None] * (1 + len(FACTS))
    return [row.submission.entry.code_link, *facts(row.submission.entry.card).values()]


def _standing(row: TableRow, metric: str) -> tuple[object, object, object, object]:
    standing = row.standings.get(metric)
    if standing is None:
        return None, None, None, None
    rank, group = (standing.rank, standing.group) if row.is_ranked else (None, None)
    chance = standing.chance
    return (rank, group, *((None, None) if chance is None else (chance.verdict, chance.n)))
