"""Folders replaced as one: after a crash there is the old folder or the new one, never a mixture."""

from __future__ import annotations

import ctypes
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_HERE = -100  # AT_FDCWD
_EXCHANGE = 2  # RENAME_EXCHANGE


@contextmanager
def replacing_folder(target: Path) -> Iterator[Path]:
    """Make a folder that takes the place of `target` when it is complete.

    Args:
        target: The folder to make or to replace, with everything in it.

    Yields:
        An empty folder beside it to write into. If the block raises, it is removed and `target` stays as it was; what
        a killed process left behind is removed by the next one.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    for left in target.parent.glob(f".{target.name}.*.part"):
        if not _is_running(left.suffixes[-2][1:]):
            shutil.rmtree(left, ignore_errors=True)
    part = target.parent / f".{target.name}.{os.getpid()}.part"
    part.mkdir()
    try:
        yield part
        if target.exists():
            _exchange(part, target)
        else:
            part.rename(target)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _exchange(one: Path, other: Path) -> None:
    """Swap two folders; in one step on Linux, elsewhere in three renames."""
    with suppress(AttributeError, OSError):  # no such call on this system, or not on this file system
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.renameat2(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) == 0:
            return
    aside = other.with_name(f"{other.name}.old")
    shutil.rmtree(aside, ignore_errors=True)
    other.rename(aside)
    try:
        one.rename(other)
    except OSError:
        aside.rename(other)
        raise
    aside.rename(one)


def _is_running(process: str) -> bool:
    if os.name != "posix":  # elsewhere signal 0 is no question
        return True
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except (ValueError, OverflowError, OSError):  # no process number, so no folder of ours; or somebody else's process
        return True
    return True
