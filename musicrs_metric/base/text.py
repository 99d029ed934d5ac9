"""Lines of CSV files in which no spreadsheet computes a cell (OWASP, CSV injection)."""

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


def guarded(cell: str) -> str:
    """Mark text as text where a spreadsheet would compute it: an apostrophe goes before it.

    Args:
        cell: The content of a cell of a CSV file.

    Returns:
        The text, or the text with an apostrophe before each place that could begin a formula. `unguarded` returns it as
        it was, also if it began with an apostrophe.
    """
    return _UNGUARDED.sub("'", cell)


def unguarded(cell: str) -> str:
    """Take away the apostrophes that `guarded` set; other text stays as it is."""
    return _GUARDED.sub("", cell)


def csv_line(cells: Iterable[object], end: str = "\n") -> str:
    """Write one line of a CSV file, with every text guarded; numbers stay as they are.

    A carriage return inside a cell is put into quotes too, which Python's writer does only where it ends lines: without
    quotes it would begin a line of its own, and what follows it a cell.

    Args:
        cells: The cells.
        end: The end of the line.
    """
    text = io.StringIO(newline="")
    row = [guarded(cell) if isinstance(cell, str) else cell for cell in cells]
    csv.writer(text, lineterminator="\r\n").writerow(row)
    return text.getvalue().removesuffix("\r\n") + end
