"""The one table model. Every cell holds final text: renderers add layout and escaping, and compute nothing.

`renderers/` prints it for a terminal, for Markdown and for LaTeX, and `table.html.j2` for a page. `report.json` holds
the fields of these classes, so their names are keys of a file format.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Align = Literal["left", "right", "center"]
Emphasis = Literal["", "best", "tied"]
Role = Literal["", "heading", "chance", "reported"]


@dataclass(frozen=True, slots=True)
class Part:
    """One value of a cell.

    Attributes:
        text: The value as shown.
        emphasis: "best", "tied" (with the best), or nothing.
        sign: A sign after the value. The notes of the table explain it.
    """

    text: str
    emphasis: Emphasis = ""
    sign: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table.

    Attributes:
        parts: Values, shown with a slash between them.
        detail: Text in smaller print below the values, such as an interval. Line feeds break its lines.
    """

    parts: tuple[Part, ...]
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """Head of a column, and the alignment of its cells."""

    text: str
    align: Align = "right"


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table.

    Attributes:
        cells: One cell per column. A heading has a single cell.
        role: The kind of row, which a renderer may set apart.
    """

    cells: tuple[Cell, ...]
    role: Role = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its caption above and its notes below."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    kind: Literal["table"] = "table"


def cell(text: str, detail: str = "", *, emphasis: Emphasis = "") -> Cell:
    """Return a cell with one value."""
    return Cell((Part(text, emphasis),), detail)


def row(*texts: str, role: Role = "") -> Row:
    """Return a row of plain cells."""
    return Row(tuple(map(cell, texts)), role)


def columns(*texts: str, n_left: int = 1) -> tuple[Column, ...]:
    """Return heads of columns: the first `n_left` aligned to the left, the others to the right."""
    return tuple(Column(text, "left" if i < n_left else "right") for i, text in enumerate(texts))


def text_table(
    caption: str, heads: Iterable[str], rows: Iterable[Iterable[str]], notes: Iterable[str] = (), *, n_left: int = 1
) -> Table:
    """Return a table of plain texts.

    Args:
        caption: The caption.
        heads: Heads of the columns.
        rows: Texts, one per column.
        notes: Notes below the table.
        n_left: Number of columns at the left that hold text. The others hold figures.
    """
    return Table(caption, columns(*heads, n_left=n_left), tuple(row(*texts) for texts in rows), tuple(notes))
