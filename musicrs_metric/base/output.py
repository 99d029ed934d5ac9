"""JSON on standard output, in any encoding."""

from __future__ import annotations

import json
import sys
from typing import Any

from .files import to_json


def print_json(value: Any) -> None:
    """Print a value as JSON. If standard output is not UTF-8, the JSON is in ASCII, which loses nothing.

    Args:
        value: Plain JSON types; NaN and infinity are refused.
    """
    encoding = (getattr(sys.stdout, "encoding", None) or "utf-8").lower()
    if encoding.replace("-", "").replace("_", "").startswith("utf"):
        print(to_json(value, indent=2))
    else:
        print(json.dumps(value, indent=2, allow_nan=False))
