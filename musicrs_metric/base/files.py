"""Reading and writing of small files: strict JSON, and writes that leave the old file or the new one, never half."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NoReturn


def strict_json(text: str) -> Any:
    """Parse JSON as the standard has it: no NaN, no Infinity, no key twice in one object.

    Args:
        text: One JSON document.

    Returns:
        The value.

    Raises:
        ValueError: The text is not such a document; the message says where and why.
    """
    try:
        return _DECODER.decode(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def to_json(value: Any, *, indent: int | None = None) -> str:
    """Write a value as JSON that every reader takes: Unicode as it is, and no NaN or Infinity.

    Args:
        value: Plain JSON types.
        indent: Spaces per level, or None for one line.

    Raises:
        ValueError: A number is not finite.
    """
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)


@contextmanager
def replacing(path: str | Path) -> Iterator[IO[str]]:
    """Open a text file that appears under its name only when it is complete and on disk.

    Args:
        path: The file to write; missing folders are made.

    Yields:
        A UTF-8 file with plain line feeds. If the block raises, what stood at `path` stays as it was.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    with _beside(target) as (descriptor, partial):
        with open(descriptor, "w", encoding="utf-8", newline="\n") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(partial, 0o666 & ~_umask())  # mkstemp makes files that only their owner may read


@contextmanager
def replacing_derived(path: Path) -> Iterator[IO[bytes]]:
    """Open a file of derived data that appears under its name only when it is complete.

    It need not outlive a power cut, so nothing waits for the disk.

    Args:
        path: The file to write, in a folder that exists.

    Yields:
        A file of bytes that its owner alone may read. If the block raises, what stood at `path` stays as it was.
    """
    with _beside(path) as (descriptor, _), open(descriptor, "wb") as file:
        yield file


def write_text(path: str | Path, chunks: Iterable[str]) -> None:
    """Write text in one step; see `replacing`."""
    with replacing(path) as file:
        file.writelines(chunks)


def sync_folder(folder: Path) -> None:
    """Bring the names of new files to the disk. A file whose name is lost in a power cut is lost."""
    if os.name != "posix":  # elsewhere a folder cannot be opened
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _beside(target: Path) -> Iterator[tuple[int, str]]:
    """A new file beside another, which it replaces at the end of the block, or is removed if that raises."""
    descriptor, partial = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    try:
        yield descriptor, partial
        os.replace(partial, target)
    except BaseException:  # also where the user stops the program
        Path(partial).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r} stands twice in one object")
    return value


_DECODER = json.JSONDecoder(parse_constant=_no_constant, object_pairs_hook=_distinct_keys)
