"""Answers in a table with bars between its columns."""

from __future__ import annotations

from .items import item, n_named
from .result import Item
from .titles import Titles


def from_table(text: str, titles: Titles) -> list[Item]:
    """Read an answer as a table: one column of it, the one that names most candidates.

    Args:
        text: What is visible of an answer.
        titles: The pool.

    Returns:
        One item per row; rows above the column's first candidate are its heading.
    """
    rows = [line.strip().strip("|").split("|") for line in text.split("\n") if "|" in line]
    rows = [row for row in rows if any(map(str.isalnum, "".join(row)))]
    best: list[Item] = []
    for column in range(min(max(map(len, rows), default=0), _MOST_COLUMNS)):
        cells = [row[column] for row in rows if column < len(row) and row[column].strip()]
        items = [item(cell, titles.find(cell)) for cell in cells]
        start = next((at for at, found in enumerate(items) if found.place is not None), len(items))
        if n_named(items) > n_named(best):
            best = items[start:]
    return best


_MOST_COLUMNS = 12
