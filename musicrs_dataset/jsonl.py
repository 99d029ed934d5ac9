"""Strict reader of JSON lines: it checks the type of each field, and names file, line and field of each fault."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from musicrs_metric.base.files import strict_json
from musicrs_metric.errors import UserError, show, some


def read_objects(path: str | Path) -> Iterator[Fields]:
    """Read a file of one JSON object per line.

    Args:
        path: The file, UTF-8; blank lines are skipped.

    Yields:
        The fields of each object, in file order.

    Raises:
        UserError: The file cannot be read or is not UTF-8, or a line is not an object. The message names the line.
    """
    try:
        with Path(path).open(encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield Fields(_object(line, f"{path}, line {number}"), f"{path}, line {number}")
    except UnicodeDecodeError as error:
        raise UserError(
            f"{path}: not UTF-8 text ({error.reason} at byte {error.start}); expected one JSON object per line"
        ) from error
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from error


def _object(line: str, where: str) -> dict[str, Any]:
    try:
        value = strict_json(line)
    except ValueError as error:
        end = "" if line.endswith("\n") else "; the file seems to be cut off here"
        raise UserError(f"{where}: not JSON ({error}){end}") from error
    if not isinstance(value, dict):
        raise UserError(f"{where}: found {show(value)}, expected an object")
    if "\\u" in line:
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            raise UserError(f"{where}: an escape spells half of a character ({error.reason}); fix the text") from error
    return value


@dataclass(frozen=True)
class Fields:
    """One JSON object.

    Attributes:
        values: Fields of the object.
        where: File, line and, for an inner object, its field.
    """

    values: dict[str, Any]
    where: str

    def string(self, name: str) -> str:
        """Return a string that is not empty, or raise `UserError`."""
        value = self._get(name)
        if not isinstance(value, str) or not value:
            self._refuse(name, value, "a string that is not empty")
        return value

    def number(self, name: str) -> float | None:
        """Return a finite number, or None for null, or raise `UserError`."""
        value = self._get(name)
        if value is None:
            return None
        # Not `isfinite`, which fails on an integer too large for a float.
        if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) <= sys.float_info.max:
            self._refuse(name, value, "a finite number or null")
        return float(value)

    def strings(self, name: str) -> list[str]:
        """Return a list of strings, or raise `UserError`."""
        value = self._list(name, "a list of strings")
        for i, item in enumerate(value):
            if not isinstance(item, str):
                self._refuse(f"{name}[{i}]", item, "a string")
        return value

    def object(self, name: str) -> Fields:
        """Return the fields of an object inside, or raise `UserError`."""
        return self._inner(name, self._get(name))

    def objects(self, name: str) -> list[Fields]:
        """Return the fields of each object of a list, or raise `UserError`."""
        return [self._inner(f"{name}[{i}]", item) for i, item in enumerate(self._list(name, "a list"))]

    def _list(self, name: str, expected: str) -> list[Any]:
        value = self._get(name)
        if not isinstance(value, list):
            self._refuse(name, value, expected)
        return value

    def _inner(self, name: str, value: Any) -> Fields:
        if not isinstance(value, dict):
            self._refuse(name, value, "an object")
        return Fields(value, f"{self.where}, {name}")

    def _get(self, name: str) -> Any:
        if name not in self.values:
            raise UserError(f"{self.where}: no field {name!r}; found {some(list(self.values)) or 'none'}")
        return self.values[name]

    def _refuse(self, name: str, value: Any, expected: str) -> NoReturn:
        raise UserError(f"{self.where}: {name} is {show(value)}, expected {expected}")
