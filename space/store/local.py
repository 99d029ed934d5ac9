"""Submissions in a folder. An acknowledged submission is on disk, even if processes write at the same time or die."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock

from musicrs_metric.base.files import replacing, to_json, write_text
from musicrs_metric.errors import is_unicode, show
from musicrs_metric.runs.predictions import Prediction

from ..submission import Submission, SubmissionEntry
from . import Receipt, SetAside
from .files import SUFFIX, StoredFileError, file_name, find_prediction, is_key, read_entry, read_submission, to_bytes
from .notes import NOTES, Notes, now

LOCK = ".lock"
WITHDRAWN = ".withdrawn"
REASON = ".reason.json"
_PART = ".part"
_LARGEST = 256_000_000  # bytes of a file that is read, many times the size of any accepted submission


class _Seen(NamedTuple):
    """A file as it was when it was last read.

    Attributes:
        stamp: Size, time of change and inode.
        content: Its entry, or the reason why it is set aside.
    """

    stamp: tuple[int, int, int]
    content: SubmissionEntry | SetAside


class LocalStore:
    """A `SubmissionStore` in one folder. The files are the only source; all other state is derived from them.

    Args:
        folder: The folder, created if it is missing.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.notes = Notes(self.folder / NOTES)
        self._writing = FileLock(self.folder / LOCK)
        self._reading = threading.Lock()
        self._seen: dict[str, _Seen] = {}

    def put(self, submission: Submission) -> Receipt:
        """Keep a submission. Once this returns, it is on disk.

        Args:
            submission: A valid submission.

        Returns:
            Its key, and the state "stored" or "already".
        """
        target = self.folder / file_name(submission.key)
        content = to_bytes(submission)
        read_entry(content, target.name)  # a file that cannot be read back must not be acknowledged
        with self._writing:
            is_withdrawn = bool(self.notes.get(submission.key).withdrawn_at)
            if target.exists() and _holds_submission(target) and not is_withdrawn:
                return Receipt(submission.key, "already")
            self._remove_unfinished()
            _write(target, content)
            if is_withdrawn:
                self.notes.reset(submission.key)
        return Receipt(submission.key, "stored")

    def entries(self) -> Sequence[SubmissionEntry]:
        """List the submissions in the order of arrival. Unchanged files are not read again."""
        entries = [self.notes.apply(seen.content) for seen in self._look() if isinstance(seen.content, SubmissionEntry)]
        entries = [entry for entry in entries if not entry.note.withdrawn_at]
        return sorted(entries, key=lambda entry: (entry.received_at, entry.key))

    def get(self, key: str) -> Submission | None:
        """Return one submission with its predictions, or None."""
        if not is_key(key):
            return None
        try:
            return read_submission((self.folder / file_name(key)).read_bytes(), file_name(key))
        except (OSError, StoredFileError):
            return None

    def prediction(self, key: str, thread_id: str) -> Prediction | None:
        """Return the prediction of one submission for one thread; None if there is none."""
        if not is_key(key):
            return None
        try:
            return find_prediction((self.folder / file_name(key)).read_bytes(), thread_id)
        except OSError:
            return None

    def withdraw(self, key: str, reason: str) -> None:
        """Move the file of a submission to another folder, with the reason. Its row disappears."""
        withdrawn = self.folder / WITHDRAWN
        withdrawn.mkdir(exist_ok=True)
        with self._writing:
            if (self.folder / file_name(key)).exists():  # two calls may withdraw it at the same time
                write_text(withdrawn / f"{key}{REASON}", [to_json({"reason": reason, "removed_at": now()}), "\n"])
                os.replace(self.folder / file_name(key), withdrawn / file_name(key))

    def is_withdrawn(self, key: str) -> bool:
        """Return True if a submission was on the leaderboard and is no longer."""
        if not is_key(key) or ((self.folder / file_name(key)).exists() and not self.notes.get(key).withdrawn_at):
            return False
        return bool(self.notes.get(key).withdrawn_at) or (self.folder / WITHDRAWN / file_name(key)).exists()

    def set_aside(self) -> Sequence[SetAside]:
        """List the files of the folder that are no submissions, by name."""
        files = [seen.content for seen in self._look() if isinstance(seen.content, SetAside)]
        return files + [SetAside(name, "is no note and is ignored") for name in self.notes.damaged()]

    def problem(self) -> str | None:
        """Return None, because the folder is the results store."""
        return None

    def _look(self) -> list[_Seen]:
        with self._reading:
            names = sorted(name for name in os.listdir(self.folder) if not name.startswith("."))
            self._seen = {name: self._read(name) for name in names}
            return list(self._seen.values())

    def _read(self, name: str) -> _Seen:
        path = self.folder / name
        name = name if is_unicode(name) else show(name)  # a file system may have names that no page can show
        try:
            status = path.stat()
            stamp = (status.st_size, status.st_mtime_ns, status.st_ino)
            seen = self._seen.get(name)
            if seen is not None and seen.stamp == stamp:
                return seen
            if not name.endswith(SUFFIX):
                return _Seen(stamp, SetAside(name, f"is no submission; file names of submissions end in {SUFFIX}"))
            if not stat.S_ISREG(status.st_mode):  # reading a pipe or a device may never end
                return _Seen(stamp, SetAside(name, "is not a regular file"))
            if status.st_size > _LARGEST:
                return _Seen(stamp, SetAside(name, f"has {status.st_size:,} bytes, expected at most {_LARGEST:,}"))
            return _Seen(stamp, read_entry(path.read_bytes(), name))
        except StoredFileError as error:
            return _Seen(stamp, SetAside(name, str(error).removeprefix(f"{name}: ")))
        except OSError as error:
            return _Seen((-1, -1, -1), SetAside(name, f"cannot be read ({error.strerror})"))

    def _remove_unfinished(self) -> None:
        """Remove the files of killed processes. Only the holder of the lock writes, so none of them is in use."""
        for path in self.folder.glob(f".*{_PART}"):
            path.unlink(missing_ok=True)


def _holds_submission(path: Path) -> bool:
    """Return True if the file is a submission. A damaged file will be replaced."""
    try:
        read_entry(path.read_bytes(), path.name)
    except (OSError, StoredFileError):
        return False
    return True


def _write(target: Path, content: bytes) -> None:
    with replacing(target) as file:
        file.write(content.decode())
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Write the new file name to disk too. A file whose name is lost in a power cut is lost."""
    if os.name != "posix":  # elsewhere a folder cannot be opened
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
