"""Reading the JSON lines that lie beside this module."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any


def rows(name: str) -> list[dict[str, Any]]:
    """Read one of the data files of the mini dataset; JSON objects in file order."""
    text = files(__package__ or "").joinpath(name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]
