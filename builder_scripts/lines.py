"""JSON lines of frozen dataclasses. Reading checks every field."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from musicrs_metric.base.files import to_json, write_text
from musicrs_metric.errors import UserError, show

if TYPE_CHECKING:
    from pydantic import TypeAdapter

Row = TypeVar("Row")


def read_lines(path: Path, row: type[Row]) -> list[Row]:
    """Read a file of one object per line.

    Args:
        path: The file, UTF-8; blank lines are skipped.
        row: The dataclass of a line.

    Raises:
        UserError: The file cannot be read, or a line has other fields or types. The message names the line.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from error
    return [parse_line(line, row, f"{path}, line {number}") for number, line in enumerate(lines, 1) if line.strip()]


def parse_line(line: bytes, row: type[Row], where: str) -> Row:
    """Read one line.

    Args:
        line: The line, UTF-8.
        row: The dataclass of the line.
        where: Name of the line in a message.

    Raises:
        UserError: The line is no such object.
    """
    from pydantic import ValidationError

    try:
        value: Row = _adapter(cast("Any", row)).validate_json(line, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(map(str, first["loc"]))
        value_found = "" if field == "" or first["type"] == "missing" else f", found {show(first['input'])}"
        raise UserError(f"{where}{field and f', {field}'}: {first['msg']}{value_found}") from error
    return value


def write_lines(path: Path, rows: Iterable[Any]) -> None:
    """Write a file of one object per line, in one step."""
    write_text(path, (to_json(asdict(row)) + "\n" for row in rows))


@cache
def _adapter(row: type[Any]) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(row)
