"""Markers on the local disk of the submissions that are in the repository on the Hub."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path

from .files import is_key


class CommitMarkers:
    """A set of keys that survives a process. Each key is an empty file.

    A marker may be lost, because the repository lists its files again. It is never set before its commit was made.

    Args:
        folder: Folder of the markers, created if it is missing.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def all(self) -> set[str]:
        """Return all marked keys."""
        return {name for name in os.listdir(self.folder) if is_key(name)}

    def has(self, key: str) -> bool:
        """Return True if a key is marked."""
        return (self.folder / key).exists()

    def add(self, keys: Iterable[str]) -> None:
        """Mark keys. A marked key keeps its age."""
        for key in keys:
            if is_key(key) and not self.has(key):
                (self.folder / key).touch()

    def remove(self, key: str) -> None:
        """Remove the marker of a key."""
        (self.folder / key).unlink(missing_ok=True)

    def older_than(self, seconds: float) -> set[str]:
        """Return the keys that were marked more than `seconds` ago."""
        before = time.time() - seconds
        return {key for key in self.all() if (self.folder / key).stat().st_mtime <= before}
