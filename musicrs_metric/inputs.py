"""Checks of the inputs of the metric: columns of lists of strings, one entry per thread."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .errors import show


def string_lists(name: str, column: Any) -> list[list[str] | tuple[str, ...]]:
    """Check a column that holds one list of strings per thread.

    Args:
        name: Name of the column, for the message.
        column: Any iterable of lists, tuples or one-dimensional arrays of strings.

    Returns:
        Its rows in a list; arrays become lists.

    Raises:
        ValueError: The column is text, or a row is not such a list or holds anything but text; the row is named.
    """
    rows = _rows(name, column, "a list of strings per thread")
    for i, row in enumerate(rows):
        if isinstance(row, np.ndarray):
            row = rows[i] = row.tolist()
        if not isinstance(row, list | tuple):
            hint = "; a thread without an answer has the empty list []" if row is None else ""
            raise ValueError(f"{name}[{i}] is {show(row)}, expected a list of strings{hint}")
        kinds = set(map(type, row))
        if kinds <= _TEXT:
            continue
        position, item = next((j, item) for j, item in enumerate(row) if type(item) not in _TEXT)
        raise ValueError(f"{name}[{i}][{position}] is {show(item)}, expected text: a title as the pool writes it")
    return rows


def labels(name: str, column: Any) -> list[str]:
    """Check a column that holds one label per thread.

    Args:
        name: Name of the column, for the message.
        column: Any iterable of strings that are not empty.

    Returns:
        Its rows in a list.

    Raises:
        ValueError: The column is text, or a row is not text or is empty; the row is named.
    """
    rows = _rows(name, column, "a label per thread")
    for i, row in enumerate(rows):
        if type(row) not in _TEXT or not row:
            raise ValueError(f"{name}[{i}] is {show(row)}, expected a label such as 'Jazz'")
    return rows


def same_length(**columns: list[Any] | None) -> None:
    """Check that all columns have one entry per thread.

    Args:
        **columns: Name to rows, or None for an absent column.

    Raises:
        ValueError: Their lengths differ. The message lists all of them.
    """
    lengths = {name: len(rows) for name, rows in columns.items() if rows is not None}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise ValueError(f"one entry per thread is expected in each input: {found}")


_TEXT = {str, np.str_}


def _rows(name: str, column: Any, expected: str) -> list[Any]:
    if isinstance(column, str | bytes | dict) or not isinstance(column, Iterable):
        raise ValueError(f"{name} is {show(column)}, expected {expected}")
    return list(column)
