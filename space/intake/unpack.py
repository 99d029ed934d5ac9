"""Unpack an upload line by line, with a limit on the unpacked size. The sizes stated in an archive prove nothing."""

from __future__ import annotations

import gzip
import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO, cast

from musicrs_metric.errors import plain, show, some
from musicrs_metric.runs.predictions import PREDICTIONS, Fault

from ..settings import Limits
from .refusal import IntakeError

_GZIP = b"\x1f\x8b"
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_ZIP_ENTRY = b"PK\x01\x02"
_MOST_ENTRIES = 100
_TAR = slice(257, 262), b"ustar"
# Exceptions of the libraries for damaged archives, found by tests with such archives.
_DAMAGED = (zipfile.BadZipFile, zlib.error, OSError, ValueError, RuntimeError, OverflowError, struct.error)
_CUT_OFF = "the file is incomplete: it ends in the middle of the archive; send it again"


def lines_of(upload: bytes, limits: Limits) -> Iterator[bytes]:
    """Unpack an upload line by line. The content decides the format, not the file name.

    Args:
        upload: JSON lines, plain, packed with gzip, or in a zip archive with one file. Files that macOS adds to an
            archive do not count. Names in an archive are shown and never used as paths.
        limits: Limits on the upload, on the unpacked content, and on a line.

    Yields:
        Lines with their line feeds. At most one line is in memory at any time.

    Raises:
        IntakeError: The upload is empty, too large, of another format, or cut off.
    """
    if not upload:
        raise refused("found an empty file of 0 bytes")
    if len(upload) > limits.upload_bytes:
        raise refused(f"found {megabytes(len(upload))}, expected at most {megabytes(limits.upload_bytes)}")
    try:
        with _opened(upload) as content:
            yield from _bounded(content, limits)
    except IntakeError:
        raise
    except EOFError:
        raise refused(_CUT_OFF) from None
    except _DAMAGED as error:
        raise refused("the archive is damaged and cannot be unpacked; pack it again") from error


def megabytes(size: int) -> str:
    """Write a size with its unit."""
    return f"{size / 1e6:.1f} MB" if size >= 100_000 else f"{size:,} bytes"


def refused(message: str) -> IntakeError:
    """Return a refusal of the whole prediction file."""
    return IntakeError([Fault(PREDICTIONS, None, None, None, message)])


def _opened(upload: bytes) -> IO[bytes]:
    if upload.startswith(_GZIP):
        return cast(IO[bytes], gzip.GzipFile(fileobj=io.BytesIO(upload)))
    if upload.startswith(_ZIP):
        return _zip_entry(upload)
    where, magic = _TAR
    if upload[where] == magic:
        raise refused("found a tar archive; send the prediction file itself, packed with gzip or not")
    return io.BytesIO(upload)


def _zip_entry(upload: bytes) -> IO[bytes]:
    if upload.count(_ZIP_ENTRY) > _MOST_ENTRIES:  # checked before thousands of entries are read
        raise refused("found a zip archive of many files, expected one prediction file")
    try:
        archive = zipfile.ZipFile(io.BytesIO(upload))
    except zipfile.BadZipFile:  # the list of files is at the end of an archive
        raise refused(_CUT_OFF) from None
    entries = [entry for entry in archive.infolist() if not entry.is_dir() and not _is_of_macos(entry.filename)]
    if len(entries) != 1:
        names = [plain(entry.filename) for entry in entries]
        found = f"{len(entries)} files ({some(names)})" if entries else "no file"
        raise refused(f"found a zip archive with {found}, expected one prediction file")
    entry = entries[0]
    if _is_outside(entry.filename):
        raise refused(f"found {show(entry.filename)} in the archive, a path outside of its folder; pack it again")
    if entry.flag_bits & 1:
        raise refused("found a zip archive with a password; pack it without one")
    # With other methods a few bytes can unpack to gigabytes in one step.
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise refused("found a zip archive with an unusual compression; pack it with gzip, or as a plain zip (deflate)")
    return io.BufferedReader(cast(io.RawIOBase, archive.open(entry)))


def _is_outside(name: str) -> bool:
    parts = name.replace("\\", "/").split("/")
    return ".." in parts or not parts[0] or ":" in parts[0]


def _is_of_macos(name: str) -> bool:
    return name.startswith("__MACOSX/") or name.rpartition("/")[2] == ".DS_Store"


def _bounded(content: IO[bytes], limits: Limits) -> Iterator[bytes]:
    left = limits.unpacked_bytes
    number = 0
    # One byte more than allowed distinguishes a line, or a file, that is too long from one that just fits.
    while line := content.readline(min(limits.line_bytes, left) + 1):
        number += 1
        left -= len(line)
        if left < 0:
            raise refused(
                f"found more than {megabytes(limits.unpacked_bytes)} after unpacking; a full submission has about 2 MB"
            )
        if number > limits.lines:
            raise refused(f"found more than {limits.lines:,} lines, expected one per thread")
        if len(line) > limits.line_bytes:
            message = f"found more than {megabytes(limits.line_bytes)} in one line, expected one line per thread"
            raise IntakeError([Fault(PREDICTIONS, number, None, None, message)])
        yield line
