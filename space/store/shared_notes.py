"""Notes in the results repository on the Hub, so that they outlive the disk of a Space and reach other Spaces."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import NamedTuple

from . import SetAside
from .files import file_name, is_key
from .notes import Notes
from .remote import RemoteFile, ResultsRepo

FOLDER = "notes"
_LARGEST = 20_000  # bytes; a note has less than a tenth of this
_BATCH = 50  # notes in one commit


class _Remote(NamedTuple):
    """A note of the repository: hash and text of its content."""

    blob: str
    text: str


class SharedNotes:
    """Keeps the notes on disk and those of the repository equal. The newer note of a key counts.

    Args:
        repo: The repository.
        notes: The notes on disk.
    """

    def __init__(self, repo: ResultsRepo, notes: Notes) -> None:
        self.repo, self.notes = repo, notes
        self._remote: dict[str, _Remote] = {}
        self._refused: dict[RemoteFile, SetAside] = {}

    def read(self, commit: str) -> None:
        """Take over the newer notes of a commit.

        Raises:
            RemoteError: The Hub does not return them.
        """
        files = self.repo.files(FOLDER, commit)
        self._refused = {file: self._refused[file] for file in files if file in self._refused}
        for file in files:
            key = PurePosixPath(file.path).name.removesuffix(".json")
            if file in self._refused or (key in self._remote and self._remote[key].blob == file.blob):
                continue
            try:
                if not is_key(key) or file.path != _path(key) or file.size > _LARGEST:
                    raise ValueError("expected KEY.json of at most 20 kB")
                text = self.repo.read(file.path, commit).decode()
                self.notes.take(key, text)
            except ValueError as error:
                self._refused[file] = SetAside(file.path, f"is no note: {error}")
            else:
                self._remote[key] = _Remote(file.blob, text)

    def waiting(self) -> dict[str, str]:
        """Return key to text of the notes that the repository does not have, at most 50."""
        texts: dict[str, str] = {}
        for key in self.notes.all_keys():
            if len(texts) < _BATCH and (text := self.notes.public_text(key)) != self._text_of(key):
                texts[key] = text
        return texts

    def committed(self, texts: dict[str, str]) -> None:
        """Note that texts were committed."""
        self._remote |= {key: _Remote("", text) for key, text in texts.items()}

    def withdrawn(self) -> set[str]:
        """Return the keys of the submissions that their senders have withdrawn."""
        return {key for key in self.notes.all_keys() if self.notes.get(key).withdrawn_at}

    def set_aside(self) -> list[SetAside]:
        """List the files of the repository that are no notes."""
        return list(self._refused.values())

    def _text_of(self, key: str) -> str | None:
        return self._remote[key].text if key in self._remote else None


def paths_of(texts: dict[str, str]) -> dict[str, bytes]:
    """Return the files of notes: path in the repository to content."""
    return {_path(key): text.encode() for key, text in texts.items()}


def _path(key: str) -> str:
    return f"{FOLDER}/{file_name(key).partition('.')[0]}.json"
