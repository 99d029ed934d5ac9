"""Replace folders in one step, so that a crash leaves the old folder or the new one, never a mixture."""

from __future__ import annotations

import ctypes
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_CURRENT_FOLDER = -100  # AT_FDCWD
_EXCHANGE = 2  # RENAME_EXCHANGE


@contextmanager
def replacing_folder(target: Path) -> Iterator[Path]:
    """Write a folder that replaces `target` when it is complete.

    Args:
        target: The folder to create, or to replace with all its files.

    Yields:
        An empty folder next to `target` to write into. If the block raises, the folder is removed and `target` stays
        unchanged. The next process removes the folder of a killed process.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    for leftover in target.parent.glob(f".{target.name}.*.part"):
        if not _is_running(leftover.suffixes[-2][1:]):
            shutil.rmtree(leftover, ignore_errors=True)
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


def _exchange(new: Path, old: Path) -> None:
    """Swap two folders; in one step on Linux, elsewhere in three renames."""
    with suppress(AttributeError, OSError):  # no such call on this system, or not on this file system
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.renameat2(_CURRENT_FOLDER, os.fsencode(new), _CURRENT_FOLDER, os.fsencode(old), _EXCHANGE) == 0:
            return
    aside = old.with_name(f"{old.name}.old")
    shutil.rmtree(aside, ignore_errors=True)
    old.rename(aside)
    try:
        new.rename(old)
    except OSError:
        aside.rename(old)
        raise
    aside.rename(new)


def _is_running(process: str) -> bool:
    if os.name != "posix":  # on other systems signal 0 is no harmless test
        return True
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except (ValueError, OverflowError, OSError):  # no process number, or the process of another user
        return True
    return True
