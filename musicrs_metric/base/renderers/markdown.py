"""Tables for Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..tables import Align, Cell, Table
from ..text import escape_markdown

_EMPHASIS = {"": "{}", "best": "**{}**", "tied": "<u>{}</u>"}
_COLONS = {"left": ":--", "right": "--:", "center": ":-:"}
_DASHES = {"left": "---", "right": "---:", "center": ":-:"}


def markdown_line(cells: Iterable[str]) -> str:
    """Return one line of a table from texts that are already escaped."""
    return f"| {' | '.join(cells)} |"


def markdown_grid(heads: Sequence[str], rows: Iterable[Iterable[str]], aligns: Sequence[Align] = ()) -> str:
    """Return the lines of a table from texts that are already escaped.

    Args:
        heads: Heads of the columns.
        rows: Cells, one per column.
        aligns: Alignments of the columns. Empty: plain dashes.
    """
    rule = [_COLONS[align] for align in aligns] or ["---"] * len(heads)
    return "\n".join(map(markdown_line, [heads, rule, *rows]))


def markdown_table(table: Table) -> str:
    """Return the lines of a table, without its caption and notes."""
    return markdown_grid(
        [escape_markdown(column.text) for column in table.columns],
        _rows(table),
        [column.align for column in table.columns],
    )


def markdown_sections(tables: Iterable[Table]) -> str:
    """Return tables as sections of a file: caption as a heading, table, notes.

    The best value is bold. Values that are tied with it are underlined (`<u>`).
    """
    return "\n".join(map(_section, tables))


def _section(table: Table) -> str:
    lines = [
        markdown_line(escape_markdown(column.text) for column in table.columns),
        "|".join(["", *(_DASHES[column.align] for column in table.columns), ""]),
        *map(markdown_line, _rows(table)),
    ]
    notes = [f"{escape_markdown(note)}  " for note in table.notes]
    return "\n".join([f"### {escape_markdown(table.caption)}", "", *lines, "", *notes, ""])


def _rows(table: Table) -> Iterable[list[str]]:
    for row in table.rows:
        cells = [_cell(cell) for cell in row.cells]
        yield [f"*{cells[0]}*", *[""] * (len(table.columns) - 1)] if row.role == "heading" else cells


def _cell(cell: Cell) -> str:
    parts = [_EMPHASIS[part.emphasis].format(escape_markdown(part.text)) + part.sign for part in cell.parts]
    return "<br>".join([" / ".join(parts), *map(escape_markdown, cell.detail.splitlines())])
