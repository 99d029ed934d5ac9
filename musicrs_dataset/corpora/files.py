"""Files of the user's copy of a corpus."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from musicrs_metric.base.files import strict_json
from musicrs_metric.base.hashing import file_sha256
from musicrs_metric.errors import UserError, show

from ..jsonl import Fields


def json_files(path: str | Path, expected: str) -> list[Path]:
    """Return the file at a path, or the `.jsonl` files of a folder, sorted.

    Args:
        path: A file or a folder.
        expected: What the files must hold, for the message.

    Raises:
        UserError: There is no such file.
    """
    place = Path(path).expanduser()
    files = sorted(place.glob("*.jsonl")) if place.is_dir() else [place]
    if not files or not all(file.is_file() for file in files):
        found = "no .jsonl file in it" if place.is_dir() else "no such file"
        raise UserError(f"{path}: {found}; expected {expected}")
    return files


def sha256_of(files: Sequence[Path]) -> str:
    """Return the hash of a file; of several files, the hash of their hashes."""
    hashes = [file_sha256(file) for file in files]
    return hashes[0] if len(hashes) == 1 else hashlib.sha256("".join(hashes).encode()).hexdigest()


def read_json(path: Path, expected: str) -> Any:
    """Read a file that holds one JSON value.

    Args:
        path: The file.
        expected: What the file must be, for the message.

    Raises:
        UserError: The file cannot be read or is not JSON.
    """
    try:
        return strict_json(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise UserError(f"{path}: cannot be read ({reason}); expected {expected}") from error
    except (ValueError, json.JSONDecodeError) as error:
        raise UserError(f"{path}: not JSON ({error}); expected {expected}") from error


def read_rows(path: Path, expected: str) -> list[Fields]:
    """Read a file that holds one JSON list of objects.

    Raises:
        UserError: The file holds something else.
    """
    rows = read_json(path, expected)
    if not isinstance(rows, list):
        raise UserError(f"{path}: found {show(rows)}, expected a JSON list: {expected}")
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            raise UserError(f"{path}, row {number}: found {show(row)}, expected an object")
    return [Fields(row, f"{path}, row {number}") for number, row in enumerate(rows, 1)]
