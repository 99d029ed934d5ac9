"""Tables for LaTeX, with the package `booktabs`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..tables import Cell, Table

_ESCAPES = str.maketrans({
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
_EMPHASIS = {"": "{}", "best": r"\textbf{{{}}}", "tied": r"\underline{{{}}}"}


def latex_tables(tables: Iterable[Table]) -> str:
    r"""Write tables for LaTeX: the best value in `\textbf`, values tied with it in `\underline`.

    Args:
        tables: The tables.

    Returns:
        The text, which ends with a line feed. Special characters are escaped. A name in a script other than Latin
        needs an engine that reads it.
    """
    return "% needs \\usepackage{booktabs} and, for quotes, \\usepackage[T1]{fontenc}\n" + "\n".join(
        map(_table, tables)
    )


def _table(table: Table) -> str:
    alignment = "".join(column.align[0] for column in table.columns)
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_escape(table.caption)}}}",
            rf"\begin{{tabular}}{{{alignment}}}",
            r"\toprule",
            _line(_escape(column.text) for column in table.columns),
            r"\midrule",
            *(_line(map(_cell, row.cells)) for row in table.rows),
            r"\bottomrule",
            r"\end{tabular}",
            *(rf"\par\footnotesize {_escape(note)}" for note in table.notes),
            r"\end{table}",
            "",
        ]
    )


def _line(texts: Iterable[str]) -> str:
    line = " & ".join(texts)
    # After the \\ of the row before, a bracket or a star would be read as its argument.
    return rf"{'{}' if line.startswith(('[', '*')) else ''}{line} \\"


def _cell(cell: Cell) -> str:
    return " / ".join(_EMPHASIS[part.emphasis].format(_escape(part.text)) + _escape(part.sign) for part in cell.parts)


def _escape(text: str) -> str:
    escaped = " ".join(text.split()).translate(_ESCAPES)
    return re.sub(r"(?<![\w-])-(?=\d)", "$-$", escaped)  # a minus, where a hyphen would be too short
