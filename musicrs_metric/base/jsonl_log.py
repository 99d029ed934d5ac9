"""Append-only logs of JSON lines that survive a kill at any moment.

Writers append whole lines. A process that is killed while it writes leaves at most one torn line at the end. The next
writer ends that line first, so a torn line never joins the line after it. Readers skip lines that do not parse, and
decide themselves how to report or count them: that rule belongs to each file format.

Use per kind of log:

| log | `fsync` | reading with `read_log` |
|---|---|---|
| shards of a run | "append": a batch is on disk when `append` returns | count the lines that do not parse |
| answers of a run | "never" | ignore the lines that do not parse |
| answers of an annotator | "append" | start at the last offset, stop at a line that is not `complete` |
| cached answers of a model | "close": one write per line, on disk at the end | warn with `number` |

To drop lines, `rewrite` the file. It is replaced in one step.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple, Self

from .files import sync_folder, write_text


class LogLine(NamedTuple):
    """A line of a log.

    Attributes:
        number: Its number, counted from 1 at the start of the reading.
        data: Its bytes without the line feed; never empty.
        end: The offset of the next line, where a later reading can start.
        complete: Whether a line feed ends it. If not, it is torn, or another process still writes it.
    """

    number: int
    data: bytes
    end: int
    complete: bool


class JsonlLog:
    """A log that one process appends to. The file is opened, and made with its folder, at the first line.

    Each call of `append` is one write at the end of the file, also if other processes append to it.

    Args:
        path: The file.
        fsync: "append" brings each append to the disk before it returns, "close" only the closing, "never" leaves it to
            the system.
    """

    def __init__(self, path: Path, *, fsync: Literal["append", "close", "never"] = "never") -> None:
        self.path = path
        self._fsync = fsync
        self._file: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def append(self, lines: Iterable[str | bytes]) -> None:
        """Append lines.

        Args:
            lines: JSON values on one line each, without a line feed. Text is written as UTF-8.

        Raises:
            OSError: They could not be written. Earlier lines are intact, and a line that was cut short is ended by the
                next append of a new log.
        """
        encoded = (line.encode() if isinstance(line, str) else line for line in lines)
        data = b"".join(line + b"\n" for line in encoded)
        if not data:
            return
        if self._file is None:
            self._file = self._open()
        while data:  # a full disk takes a part, and raises at the next attempt
            data = data[os.write(self._file, data) :]
        if self._fsync == "append":
            os.fsync(self._file)

    def close(self) -> None:
        """Close the file. A later `append` opens it again."""
        if self._file is not None:
            if self._fsync == "close":
                os.fsync(self._file)
            os.close(self._file)
            self._file = None

    def _open(self) -> int:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        is_new = not self.path.exists()
        file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
        size = os.fstat(file).st_size
        if size and os.pread(file, 1, size - 1) != b"\n":
            os.write(file, b"\n")  # end the torn line of a process that was killed
        if is_new and self._fsync != "never":
            sync_folder(self.path.parent)
        return file


def read_log(path: Path, start: int = 0) -> Iterator[LogLine]:
    """Read the lines of a log. Empty lines are skipped, and a missing file has none.

    Args:
        path: The file.
        start: Offset to start at: 0, or `end` of a line that was read before.

    Yields:
        The lines. Whether one parses is for the caller to find out.
    """
    if not path.exists():
        return
    with path.open("rb") as file:
        file.seek(start)
        end = start
        for number, line in enumerate(file, 1):
            end += len(line)
            data = line.removesuffix(b"\n")
            if data:
                yield LogLine(number, data, end, len(data) < len(line))


def rewrite(path: Path, lines: Iterable[str]) -> None:
    """Replace a log in one step. A kill leaves the old file or the new one.

    Args:
        path: The file.
        lines: JSON values on one line each, without a line feed.
    """
    write_text(path, (line + "\n" for line in lines))
