"""Marks on a disk: which submissions are in the repository on the Hub."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path

from .files import is_key


class CommitMarkers:
    """A set of keys that outlives a process; each is an empty file.

    A mark may be lost, for the repository tells again what is in it; a mark is never set before its commit was made.

    Args:
        folder: Where they lie; made if it does not exist.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def all(self) -> set[str]:
        """All keys that are marked."""
        return {name for name in os.listdir(self.folder) if is_key(name)}

    def has(self, key: str) -> bool:
        """Whether a key is marked."""
        return (self.folder / key).exists()

    def add(self, keys: Iterable[str]) -> None:
        """Mark keys; one that is marked keeps its age."""
        for key in keys:
            if is_key(key) and not self.has(key):
                (self.folder / key).touch()

    def remove(self, key: str) -> None:
        """Take a mark away."""
        (self.folder / key).unlink(missing_ok=True)

    def older_than(self, seconds: float) -> set[str]:
        """The keys that were marked before that time."""
        before = time.time() - seconds
        return {key for key in self.all() if (self.folder / key).stat().st_mtime <= before}
