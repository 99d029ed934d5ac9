"""Commands of the leaderboard owner: list, show, remove and restore stored submissions."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

from filelock import FileLock

from musicrs_metric.base.files import strict_json
from musicrs_metric.errors import UserError, show

from .store.files import SUFFIX, StoredFileError, read_entry
from .store.local import LOCK, REASON, WITHDRAWN, LocalStore
from .store.notes import WITHDRAWN_BY_SENDER
from .submission import SubmissionEntry

Listed = tuple[SubmissionEntry, str | None]
_SHORTEST = 6  # characters of a key that are enough to name a row


class Submissions:
    """Submissions in the folder of a leaderboard, with those that the owner removed.

    Args:
        store: The store.
    """

    def __init__(self, store: LocalStore) -> None:
        self.store = store
        self.withdrawn = store.folder / WITHDRAWN

    def listed(self) -> list[tuple[SubmissionEntry, str | None]]:
        """List all submissions in the order of arrival, each with the reason of its removal or None."""
        for key in self.store.notes.all_keys():
            if self.store.notes.get(key).withdrawn_at:  # its file is still here if the process was killed
                self.store.withdraw(key, WITHDRAWN_BY_SENDER)
        rows: list[Listed] = [(entry, None) for entry in self.store.entries()]
        present = {entry.key for entry, _ in rows}
        for path in sorted(self.withdrawn.glob(f"*{SUFFIX}")):
            if path.stem in present:  # it was sent again after its withdrawal
                continue
            try:
                rows.append((read_entry(path.read_bytes(), path.name), self._reason(path.stem)))
            except (OSError, StoredFileError):
                continue
        return sorted(rows, key=lambda row: (row[0].received_at, row[0].key))

    def find(self, key: str) -> tuple[SubmissionEntry, str | None]:
        """Return the submission of a key or of its first characters.

        Args:
            key: At least 6 characters.

        Raises:
            UserError: There is no such submission, or there are several.
        """
        return find_key(self.listed(), key)

    def remove(self, key: str, reason: str) -> SubmissionEntry:
        """Take a submission off the leaderboard. Its file is kept, with the reason.

        Args:
            key: Its key, or the first characters.
            reason: The reason in words, for the list of the owner.

        Raises:
            UserError: There is no such submission, or it is removed already.
        """
        entry, removed = self.find(key)
        if removed is not None:
            raise UserError(f"{entry.key[:12]}: was removed before ({removed}); `restore` brings it back")
        self.store.withdraw(entry.key, reason)
        return entry

    def restore(self, key: str) -> SubmissionEntry:
        """Bring a removed submission back.

        Raises:
            UserError: There is no such submission, or it is on the leaderboard.
        """
        entry, removed = self.find(key)
        if removed is None:
            raise UserError(f"{entry.key[:12]}: is on the leaderboard, expected a removed submission")
        with FileLock(self.store.folder / LOCK):
            os.replace(self.withdrawn / f"{entry.key}{SUFFIX}", self.store.folder / f"{entry.key}{SUFFIX}")
            (self.withdrawn / f"{entry.key}{REASON}").unlink(missing_ok=True)
        if self.store.notes.get(entry.key).withdrawn_at:
            self.store.notes.change(entry.key, withdrawn_at="")
        return entry

    def _reason(self, key: str) -> str:
        try:
            values = strict_json((self.withdrawn / f"{key}{REASON}").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return "removed"
        reason = values.get("reason") if isinstance(values, dict) else None
        return reason if isinstance(reason, str) else "removed"


def find_key(rows: Iterable[Listed], key: str) -> Listed:
    """Return the submission of a key or of its first characters. A present one counts more than a removed one.

    Args:
        rows: Submissions, each with the reason of its removal or None.
        key: At least 6 characters.

    Raises:
        UserError: There is no such submission, or there are several.
    """
    matches = [row for row in rows if len(key) >= _SHORTEST and row[0].key.startswith(key)]
    present = [row for row in matches if row[1] is None]
    matches = present or matches
    if len(matches) != 1:
        number = "no submission" if not matches else f"{len(matches)} submissions"
        raise UserError(
            f"key {show(key)}: found {number}, expected the first {_SHORTEST} or more characters of one key; "
            "`python -m space list` prints the keys"
        )
    return matches[0]


def described(entry: SubmissionEntry, removed: str | None) -> str:
    """Return all stored fields of a submission as indented JSON."""
    from dataclasses import asdict

    values = asdict(entry) | {"removed": removed}
    return json.dumps(values, indent=2, ensure_ascii=False)


def folder_of(results: Path) -> Path:
    """Return the folder of the submissions.

    Raises:
        UserError: There is none.
    """
    from .factory import SUBMISSIONS

    folder = results / SUBMISSIONS
    if not folder.is_dir():
        raise UserError(f"{results}: found no folder {SUBMISSIONS}; name the folder of the leaderboard with --results")
    return folder
