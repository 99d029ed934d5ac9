"""Tables for LaTeX, with the packages `booktabs` and `graphicx`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from ..tables import Align, Cell, Row, Table

_ESCAPES = str.maketrans({
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "–": "--",
    "−": "$-$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "×": r"$\times$",
    "→": r"$\to$",
    # Arrows for the filled triangles: plain LaTeX has the open ones only.
    "▲": r"$\uparrow$",
    "▼": r"$\downarrow$",
    "△": r"$\bigtriangleup$",
    "▽": r"$\bigtriangledown$",
    **{char: f"\\{char}" for char in "&%$#_{}"},
})  # fmt: skip
_PREAMBLE = "% needs \\usepackage{booktabs,graphicx} and, for quotes, \\usepackage[T1]{fontenc}\n"
_LONG_WORD, _CHUNK = 24, 8
_WIDE = 90  # characters, of which one of two columns holds about half; `table*` spans both
_EMPHASIS = {"": "{}", "best": r"\textbf{{{}}}", "tied": r"\underline{{{}}}"}


def latex_tables(tables: Iterable[Table]) -> str:
    r"""Write tables for LaTeX: the best value in `\textbf`, values tied with it in `\underline`.

    A table that is wider than its column is scaled down to it, so that the same text fits one and two columns. A wide
    table spans both columns. The label is made of the caption: `\ref{tab:against-chance}`.

    Args:
        tables: The tables.

    Returns:
        The text, which ends with a line feed. Special characters are escaped. A name in a script other than Latin
        needs an engine that reads it.
    """
    labels: Counter[str] = Counter()
    return _PREAMBLE + "\n".join(_table(table, _label(table.caption, labels)) for table in tables)


def _table(table: Table, label: str) -> str:
    alignment = "".join(column.align[0] for column in table.columns)
    notes = [rf"\par\footnotesize {_breakable(note)}" for note in table.notes]
    environment = "table*" if _n_characters(table) > _WIDE else "table"
    return "\n".join(
        [
            rf"\begin{{{environment}}}",
            r"\centering",
            *_size(len(table.rows)),
            rf"\caption{{{_caption(table.caption)}}}",
            rf"\label{{{label}}}",
            r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
            rf"\begin{{tabular}}{{{alignment}}}",
            r"\toprule",
            _line(_escape(column.text) for column in table.columns),
            r"\midrule",
            *(_row(row, table) for row in table.rows),
            r"\bottomrule",
            r"\end{tabular}}",
            *([r"\par\raggedright"] if notes else []),
            *notes,
            rf"\end{{{environment}}}",
            "",
        ]
    )


def _n_characters(table: Table) -> int:
    """Return the characters of the widest line, about."""
    rows = [row.cells for row in table.rows if row.role != "heading"]
    widths = [
        max(len(column.text), *(_cell_width(cells[i]) for cells in rows if i < len(cells)), 0)
        for i, column in enumerate(table.columns)
    ]
    return sum(widths) + 2 * len(widths)


def _cell_width(cell: Cell) -> int:
    text = " / ".join(part.text + part.sign for part in cell.parts)
    return max(len(text), *(len(line) for line in cell.detail.splitlines()), 0)


def _size(n_rows: int) -> list[str]:
    """Return the font of a long table, which must fit a page."""
    return [r"\footnotesize"] * (30 < n_rows <= 50) + [r"\scriptsize"] * (n_rows > 50)


def _label(caption: str, labels: Counter[str]) -> str:
    """Return a label of the words of a caption, without its numbers, and different from the labels before."""
    words = re.findall(r"[a-z]+(?:@\d+)?", caption.lower())
    name = "-".join(words[:5]).replace("@", "") or "table"
    labels[name] += 1
    return f"tab:{name}" + (f"-{labels[name]}" if labels[name] > 1 else "")


def _row(row: Row, table: Table) -> str:
    if row.role == "heading":
        return _line([rf"\multicolumn{{{len(table.columns)}}}{{l}}{{\emph{{{_cell(row.cells[0], 'left')}}}}}"])
    return _line(_cell(cell, column.align) for cell, column in zip(row.cells, table.columns, strict=False))


def _line(texts: Iterable[str]) -> str:
    line = " & ".join(texts)
    # After the \\ of the row before, a bracket or a star would be read as its argument.
    return rf"{'{}' if line.startswith(('[', '*')) else ''}{line} \\"


def _cell(cell: Cell, align: Align) -> str:
    text = " / ".join(_EMPHASIS[part.emphasis].format(_escape(part.text)) + _escape(part.sign) for part in cell.parts)
    if not cell.detail:
        return text
    lines = [text, *(rf"{{\scriptsize {_escape(line)}}}" for line in cell.detail.splitlines())]
    stacked = r"\\".join(lines)
    return rf"\shortstack[{align[0]}]{{{stacked}}}"


def _caption(text: str) -> str:
    """Escape a caption. A justified line cannot break inside a long name, a ragged line can."""
    is_long = any(len(word) > _LONG_WORD for word in text.split())
    return (r"\raggedright " if is_long else "") + _breakable(text)


def _breakable(text: str) -> str:
    """Escape a text, and let long words such as names of models break."""
    return " ".join(
        _escape(word)
        if len(word) <= _LONG_WORD
        else r"\allowbreak{}".join(_escape(word[i : i + _CHUNK]) for i in range(0, len(word), _CHUNK))
        for word in text.split()
    )


def _escape(text: str) -> str:
    escaped = " ".join(text.split()).translate(_ESCAPES)
    return re.sub(r"(?<![\w-])-(?=\d)", "$-$", escaped)  # a minus, where a hyphen would be too short
