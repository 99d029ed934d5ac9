"""The table to take home: Markdown and LaTeX for papers, CSV for spreadsheets, all safe whatever a name holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from musicrs_metric.base.numbers import UNDEFINED, percent_no_negative_zero, percent_with_interval
from musicrs_metric.base.renderers.latex import latex_tables
from musicrs_metric.base.renderers.markdown import markdown_sections
from musicrs_metric.base.tables import Cell, Row, Table, cell, columns
from musicrs_metric.base.text import csv_line
from musicrs_metric.chance import VERDICT_RULE
from musicrs_metric.compare import HEADLINE
from musicrs_metric.compare.tables import AMONG

from .lines import MEASURES, Line

Form = Literal["markdown", "csv", "latex"]

_SUFFIX: Mapping[Form, str] = {"markdown": ".md", "csv": ".csv", "latex": ".tex"}


def export(found: Sequence[Line], form: Form, *, title: str = "MusiCRS leaderboard") -> str:
    """Write lines of the table as text.

    Args:
        found: The lines, as they are to stand.
        form: "markdown", "latex" (for `booktabs`) or "csv".
        title: What the table shows.

    Returns:
        The text of a file.
    """
    if form == "csv":
        return _csv(found)
    tables = [_table(found, title)]
    return markdown_sections(tables) if form == "markdown" else latex_tables(tables)


def file_name_of(form: Form) -> str:
    """What to call the file."""
    return f"musicrs-leaderboard{_SUFFIX[form]}"


def _table(found: Sequence[Line], title: str) -> Table:
    rows = tuple(
        Row(
            (
                cell(f"{line.label} (reported)" if line.kind == "reported" else line.label),
                cell(line.modality or UNDEFINED),
                cell(line.reads or UNDEFINED),
                *(_score(line, metric) for metric in HEADLINE),
                cell(_group(line)),
                cell(str(line.n or UNDEFINED)),
                cell(percent_no_negative_zero(line.audio_coverage)),
                cell(percent_no_negative_zero(line.answered)),
            )
        )
        for line in found
    )
    notes = (
        f"bold: best; underlined: not significantly different from the best (paired t, Holm over all pairs){AMONG}",
        "reported: figures of the paper, which cannot be computed again",
    )
    heads = ("System", "modality", "reads", *HEADLINE, f"group ({HEADLINE[0]})", "n", "audio %", "answered %")
    return Table(f"{title}: scores in % [95 % interval]", columns(*heads, n_left=3), rows, notes)


def _score(line: Line, metric: str) -> Cell:
    value, standing = line.values.get(metric), line.standings.get(metric)
    text = UNDEFINED if value is None else percent_with_interval(value, line.interval.get(metric))
    if standing is None or not line.is_ranked:
        return cell(text)
    return cell(text, emphasis="best" if standing.rank == 1 else "tied" if standing.group == 1 else "")


def _group(line: Line) -> str:
    standing = line.standings.get(HEADLINE[0])
    return str(standing.group) if standing is not None and line.is_ranked else UNDEFINED


def _csv(found: Sequence[Line]) -> str:
    """One line per system with numbers at full precision; shares lie between 0 and 1."""
    about = ["kind", "name", "modality", "paradigm", "reads", "open_weights", "n", "audio_coverage", "answered", "key"]
    numbers = [f"{name}{part}" for name in MEASURES for part in ("", " low", " high")]
    ranks = [f"{metric} {part}" for metric in HEADLINE for part in ("rank", "group", "to chance", "to chance n")]
    rows = [csv_line([*about, *numbers, *ranks, "verdict rule"])]
    for line in found:
        first: list[object] = [line.kind, line.label, line.modality, line.paradigm, line.reads, line.open_weights]
        first += [line.n, line.audio_coverage, line.answered, line.key]
        scores = [
            value for name in MEASURES for value in (line.values.get(name), *line.interval.get(name, (None, None)))
        ]
        standings = [value for metric in HEADLINE for value in _standing(line, metric)]
        rule = VERDICT_RULE if line.standings else None
        rows.append(csv_line((*first, *scores, *standings, rule)))
    return "".join(rows)


def _standing(line: Line, metric: str) -> tuple[object, object, object, object]:
    one = line.standings.get(metric)
    if one is None:
        return None, None, None, None
    rank, group = (one.rank, one.group) if line.is_ranked else (None, None)
    chance = one.chance
    return (rank, group, *((None, None) if chance is None else (chance.verdict, chance.n)))
