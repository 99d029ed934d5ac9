"""Count the product's files and functions that a call crosses.

    python -m tests.call_paths ROOM ARGUMENT ...     # such as: musicrs_metric score -p run --dataset data

Only code that runs inside functions counts; importing a module does not.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
ROOMS = ("musicrs_metric", "musicrs_dataset", "baselines", "space", "builder_scripts")


class CallPath(NamedTuple):
    """Files and functions that a call crossed.

    Attributes:
        files: Paths relative to the checkout, in the order of their first call.
        functions: Number of distinct functions.
    """

    files: tuple[str, ...]
    functions: int


@contextlib.contextmanager
def traced() -> Iterator[Callable[[], CallPath]]:
    """Trace all threads inside the block; the function that it gives returns the path so far."""
    codes: dict[CodeType, None] = {}

    def profile(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_flags & 0x2:  # optimised: a function, neither a module nor a class
            codes.setdefault(frame.f_code)

    def path() -> CallPath:
        own = [code for code in list(codes) if _is_product(code.co_filename)]
        files = dict.fromkeys(os.path.relpath(code.co_filename, ROOT) for code in own)
        return CallPath(tuple(files), len(own))

    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        yield path
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def _is_product(filename: str) -> bool:
    return any(filename.startswith(str(ROOT / room) + os.sep) for room in ROOMS)


def main(arguments: list[str]) -> None:
    """Run a command in this process and print its path."""
    room, *rest = arguments
    command = importlib.import_module(f"{room}.cli").app
    with traced() as path, contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        command(rest, standalone_mode=False)
    found = path()
    print("\n".join(found.files))
    print(f"{len(found.files)} files, {found.functions} functions")


if __name__ == "__main__":
    main(sys.argv[1:])
