"""Tables for a terminal, with rich."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from ..tables import Cell, Table

if TYPE_CHECKING:
    from rich.box import Box
    from rich.table import Table as RichTable
    from rich.text import Text

_STYLES = {"": "", "best": "bold", "tied": "underline"}


def rich_table(table: Table, *, box: Box | None = None, no_wrap: Collection[str] = (), cut: bool = False) -> RichTable:
    """Lay out a table for the terminal. Texts are shown as they are, not read as markup.

    Args:
        table: The table.
        box: Lines around the cells, from `rich.box`. None: all lines.
        no_wrap: Heads of columns whose cells stay on one line.
        cut: Whether a narrow terminal cuts long cells, instead of folding them.
    """
    from rich.box import HEAVY_HEAD
    from rich.table import Table as RichTable
    from rich.text import Text

    caption = Text(table.caption) if table.caption else None
    notes = Text("\n".join(table.notes)) if table.notes else None
    shown = RichTable(title=caption, caption=notes, title_justify="left", caption_justify="left", box=box or HEAVY_HEAD)
    for column in table.columns:
        shown.add_column(
            Text(column.text),
            justify=column.align,
            overflow="ellipsis" if cut else "fold",
            no_wrap=column.text in no_wrap,
        )
    for row in table.rows:
        shown.add_row(*map(_text, row.cells))
    return shown


def _text(cell: Cell) -> Text:
    from rich.text import Text

    parts = [(part.text + part.sign, _STYLES[part.emphasis]) for part in cell.parts]
    text = Text(" / ").join(Text(*part) for part in parts)
    return text.append(f"\n{cell.detail}") if cell.detail else text
