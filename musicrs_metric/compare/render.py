"""Sheets as a terminal, a Markdown file or a LaTeX paper shows them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ..markdown import escaped
from .tables import Cell, Sheet

_LATEX = str.maketrans({
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "–": "--",
    **{char: f"\\{char}" for char in "&%$#_{}"},
})  # fmt: skip
_RICH = {"": "", "best": "bold", "tied": "underline"}


def rich_table(sheet: Sheet) -> Any:
    """Lay out a sheet for the terminal.

    Args:
        sheet: The sheet.

    Returns:
        A `rich.table.Table`; names are shown as they are, not read as markup.
    """
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(sheet.title), caption=Text("\n".join(sheet.notes)), title_justify="left")
    table.caption_justify = "left"
    for i, name in enumerate(sheet.columns):
        table.add_column(Text(name), justify="left" if i < sheet.n_text else "right", overflow="fold")
    for row in sheet.rows:
        table.add_row(*(Text(cell.text, style=_RICH[cell.mark]) for cell in row))
    return table


def markdown(sheets: Iterable[Sheet]) -> str:
    """Write sheets as Markdown tables: best in bold, tied with the best underlined (`<u>`).

    Args:
        sheets: The sheets.

    Returns:
        The text, which ends with a line feed.
    """
    return "\n".join(_markdown_table(sheet) for sheet in sheets)


def latex(sheets: Iterable[Sheet]) -> str:
    r"""Write sheets as LaTeX tables for the `booktabs` package: best in `\textbf`, tied with the best in `\underline`.

    Args:
        sheets: The sheets.

    Returns:
        The text, which ends with a line feed. Special characters are escaped; a name in a script beyond Latin needs an
        engine that reads it.
    """
    return "% needs \\usepackage{booktabs} and, for quotes, \\usepackage[T1]{fontenc}\n" + "\n".join(
        _latex_table(sheet) for sheet in sheets
    )


def _markdown_table(sheet: Sheet) -> str:
    lines = [
        _markdown_line(map(escaped, sheet.columns)),
        "|".join(["", *("---" if i < sheet.n_text else "---:" for i in range(len(sheet.columns))), ""]),
        *(_markdown_line(map(_markdown_cell, row)) for row in sheet.rows),
    ]
    notes = [f"{escaped(note)}  " for note in sheet.notes]
    return "\n".join([f"### {escaped(sheet.title)}", "", *lines, "", *notes, ""])


def _markdown_line(texts: Iterable[str]) -> str:
    return f"| {' | '.join(texts)} |"


def _markdown_cell(cell: Cell) -> str:
    text = escaped(cell.text)
    return {"": text, "best": f"**{text}**", "tied": f"<u>{text}</u>"}[cell.mark]


def _latex_table(sheet: Sheet) -> str:
    alignment = "l" * sheet.n_text + "r" * (len(sheet.columns) - sheet.n_text)
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_latex_text(sheet.title)}}}",
            rf"\begin{{tabular}}{{{alignment}}}",
            r"\toprule",
            _latex_line(map(_latex_text, sheet.columns)),
            r"\midrule",
            *(_latex_line(map(_latex_cell, row)) for row in sheet.rows),
            r"\bottomrule",
            r"\end{tabular}",
            *(rf"\par\footnotesize {_latex_text(note)}" for note in sheet.notes),
            r"\end{table}",
            "",
        ]
    )


def _latex_line(texts: Iterable[str]) -> str:
    line = " & ".join(texts)
    # After the \\ of the row before, a bracket or a star would be read as its argument.
    return rf"{'{}' if line.startswith(('[', '*')) else ''}{line} \\"


def _latex_cell(cell: Cell) -> str:
    text = _latex_text(cell.text)
    return {"": text, "best": rf"\textbf{{{text}}}", "tied": rf"\underline{{{text}}}"}[cell.mark]


def _latex_text(text: str) -> str:
    escaped = " ".join(text.split()).translate(_LATEX)
    return re.sub(r"(?<![\w-])-(?=\d)", "$-$", escaped)  # a minus, where a hyphen would be too short
