"""Notes on submissions: facts that change after the arrival, such as edits by the sender.

A note is one small file per key. The file of the submission never changes, because its name is the hash of its content.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from filelock import FileLock

from musicrs_metric.base.files import strict_json, to_json, write_text

from ..submission import Note, SubmissionEntry
from .files import is_key

NOTES = ".notes"
_SUFFIX = ".json"
_OF_CARD = ("name", "reads")
_OF_ENTRY = ("link", "code_link", "description")
EDITABLE = (*_OF_CARD, *_OF_ENTRY)
"""Fields of a submission that its sender may edit."""
WITHDRAWN_BY_SENDER = "withdrawn by its sender"
_LOG = logging.getLogger(__name__)


class _Seen(NamedTuple):
    """A note as it was when its file was last read; None if the file is damaged."""

    stamp: tuple[int, int, int]
    note: Note | None


class Notes:
    """The notes in a folder. Safe to use from many threads and processes.

    Args:
        folder: The folder, created with the first note.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._seen: dict[str, _Seen] = {}

    def get(self, key: str) -> Note:
        """Return the note on a submission; an empty one without a file, or for a damaged file."""
        return self._read(key).note or Note()

    def apply(self, entry: SubmissionEntry) -> SubmissionEntry:
        """Return a submission with its note, and with the fields that its sender has edited."""
        note = self.get(entry.key)
        if note == Note():
            return entry
        of_card: dict[str, Any] = {name: note.edits[name] for name in _OF_CARD if name in note.edits}
        of_entry: dict[str, Any] = {name: note.edits[name] for name in _OF_ENTRY if name in note.edits}
        return replace(entry, card=replace(entry.card, **of_card), **of_entry, note=note)

    def change(self, key: str, *, edits: Mapping[str, str | None] = {}, **changes: Any) -> Note:
        """Change a note on disk.

        Args:
            key: Key of the submission.
            edits: Edited fields, which are added to earlier edits.
            changes: New values of other attributes of `Note`.

        Raises:
            OSError: The disk does not accept the note.
        """
        with self._locked():
            before = self.get(key)
            note = replace(before, edits={**before.edits, **edits}, **changes | {"changed_at": now()})
            self._write(key, note)
        return note

    def reset(self, key: str) -> None:
        """Empty the note on a submission that is sent again. Without a note nothing is written."""
        if self._path(key).exists():
            with self._locked():
                self._write(key, Note(changed_at=now()))

    def damaged(self) -> list[str]:
        """List the names of note files that cannot be read."""
        return [f"{NOTES}/{key}{_SUFFIX}" for key in self.all_keys() if self._read(key).note is None]

    def all_keys(self) -> Iterator[str]:
        """Yield the keys of all notes. Other files in the folder are ignored."""
        for path in sorted(self.folder.glob(f"*{_SUFFIX}")):
            if is_key(path.stem):
                yield path.stem

    def public_text(self, key: str) -> str:
        """Return a note as JSON for a public repository, without the name of a sender who has not agreed to show it."""
        note = self.get(key)
        return _text(note if note.show_sender else replace(note, sender=""))

    def take(self, key: str, text: str) -> None:
        """Take over a note of another process if it is newer than the own one.

        Raises:
            ValueError: The text is no note.
        """
        with self._locked():
            note, own = _parsed(text), self.get(key)
            if note.changed_at > own.changed_at:
                self._write(key, replace(note, sender=note.sender or own.sender))

    def _locked(self) -> FileLock:
        self.folder.mkdir(parents=True, exist_ok=True)
        return FileLock(self.folder / ".lock")

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}{_SUFFIX}"

    def _write(self, key: str, note: Note) -> None:
        write_text(self._path(key), [_text(note)])

    def _read(self, key: str) -> _Seen:
        path = self._path(key)
        try:
            status = path.stat()
        except OSError:
            return _Seen((0, 0, 0), Note())
        stamp = (status.st_size, status.st_mtime_ns, status.st_ino)
        seen = self._seen.get(key)
        if seen is None or seen.stamp != stamp:
            try:
                seen = _Seen(stamp, _parsed(path.read_text(encoding="utf-8")))
            except (OSError, ValueError) as error:
                _LOG.warning("%s: cannot be read (%s); the note is ignored", path, error)
                seen = _Seen(stamp, None)
            self._seen[key] = seen
        return seen


def now() -> str:
    """Return the current time, ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def _text(note: Note) -> str:
    return f"{to_json(asdict(note))}\n"


def _parsed(text: str) -> Note:
    values = strict_json(text)
    if not isinstance(values, dict):
        raise ValueError("expected a JSON object")
    standard = asdict(Note())
    known = {name: value for name, value in values.items() if name in standard}
    for name, value in known.items():
        if type(value) is not type(standard[name]):
            raise ValueError(f"field {name!r} has another type")
    edits = known.get("edits", {})
    if not all(name in EDITABLE and isinstance(value, str | None) for name, value in edits.items()):
        raise ValueError("field 'edits' has an unknown field or another type")
    if edits.get("reads", "thread") not in ("thread", "pools", "labels") or "" in (edits.get("name", "-"),):
        raise ValueError("field 'edits' has an invalid value")
    return Note(**known)
