"""Texts of users made safe for other formats: cells of spreadsheets (OWASP, CSV injection) and Markdown."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable

# Signs that begin a formula or a command, also in full width and in the small forms that a spreadsheet may fold.
_SIGN = "[=+\\-@|%\uff1d\uff0b\uff0d\uff20\uff5c\uff05\u2212\ufe62\ufe63\ufe66\ufe6b]"
# Characters that a spreadsheet may drop before it looks at a cell: blanks, line ends, control and format characters.
_BLANK = r"[\s\x00-\x20\x7f-\xa0\u00ad\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\u3164\ufe00-\ufe0f\ufeff]*"
# A spreadsheet whose language has the comma in numbers starts a cell after each semicolon, with or without quotes.
# A tab or a line end at the start is unsafe by itself. Apostrophes are counted in, so that every text comes back.
_BEGINS = rf"(?:^(?='*(?:{_BLANK}{_SIGN}|[\t\r\n]))|(?<=;)(?='*{_BLANK}{_SIGN}))"
_UNGUARDED = re.compile(_BEGINS)
_GUARDED = re.compile(rf"{_BEGINS}'")
# A pair of brackets around figures, as of an interval, is neither a link nor a note, and stays readable.
_MARKDOWN = re.compile(r"(\[[-+]?\d[^\\`*_{}\[\]|~$#]*\](?![(\[:]))|([\\`*_{}\[\]|~$#])")


def guarded(cell: str) -> str:
    """Put an apostrophe before each position of a CSV cell at which a spreadsheet would start a formula.

    Args:
        cell: The content of the cell.

    Returns:
        The marked text. `unguarded` restores the original, also if it started with an apostrophe.
    """
    return _UNGUARDED.sub("'", cell)


def unguarded(cell: str) -> str:
    """Remove the apostrophes that `guarded` added. Other text stays as it is."""
    return _GUARDED.sub("", cell)


def csv_line(cells: Iterable[object], end: str = "\n") -> str:
    """Write one line of a CSV file. Every text is guarded; numbers stay as they are.

    A carriage return inside a cell is put into quotes, too. Python's writer does so only if carriage returns end its
    lines. Without quotes it would start a new line, and the text after it a new cell.

    Args:
        cells: The cells.
        end: The end of the line.
    """
    text = io.StringIO(newline="")
    row = [guarded(cell) if isinstance(cell, str) else cell for cell in cells]
    csv.writer(text, lineterminator="\r\n").writerow(row)
    return text.getvalue().removesuffix("\r\n") + end


def escape_markdown(text: str) -> str:
    """Return a text on one line that Markdown and HTML show as it is."""
    text = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKDOWN.sub(lambda match: match[1] or f"\\{match[2]}", text)
