"""Standard output that is not UTF-8: a sign that its encoding lacks becomes `?`, and one line says so."""

from __future__ import annotations

import codecs
import io
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..files import to_json

_HANDLER = "musicrs-replace"


@contextmanager
def replacing_signs() -> Iterator[None]:
    """Print `?` for what the encoding of standard output or standard error lacks, in place of an error.

    At the end, one line on standard error says so if it happened. Streams that a test or a notebook has put in place
    are left as they are.
    """
    replaced = False

    def replace(error: UnicodeError) -> tuple[str, int]:
        nonlocal replaced
        if not isinstance(error, UnicodeEncodeError):
            raise error
        replaced = True
        return "?" * (error.end - error.start), error.end

    codecs.register_error(_HANDLER, replace)
    changed = [
        (stream, stream.errors)
        for stream in (sys.stdout, sys.stderr)
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict"
    ]
    for stream, _ in changed:
        stream.reconfigure(errors=_HANDLER)
    try:
        yield
    finally:
        for stream, errors in changed:
            if not stream.closed:
                stream.reconfigure(errors=errors)  # writes what is waiting first, so that all of it is counted
        if replaced and not sys.stderr.closed:
            encoding = sys.stdout.encoding
            print(
                f"the output is {encoding}, which lacks some of the signs; they are printed as ?. "
                "Set PYTHONIOENCODING=utf-8 to print all of them",
                file=sys.stderr,
            )


def print_json(value: Any) -> None:
    """Print a value as JSON; where standard output is not UTF-8, as JSON in ASCII, which loses nothing.

    Args:
        value: Plain JSON types; NaN and infinity are refused.
    """
    encoding = (getattr(sys.stdout, "encoding", None) or "utf-8").lower()
    if encoding.replace("-", "").replace("_", "").startswith("utf"):
        print(to_json(value, indent=2))
    else:
        print(json.dumps(value, indent=2, allow_nan=False))
