"""Failed downloads with their reasons: an SQLite file in the cache, one row per video.

Each row is written in one transaction, so a kill at any moment leaves the old row or the new one. Downloaded videos
need no row, because their file is in the cache. Earlier versions set videos to `gone` for messages that are not final.
Such rows are classified again by their stored message when they are read.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Self

from musicrs_metric.errors import UserError

from ..records import LinkStatus
from .fetch.cache import AudioCache
from .fetch.kinds import COPYRIGHT, PRIVATE, REMOVED, kind_of, tidy

LEDGER = "ledger.sqlite"
_FINAL = {PRIVATE.why, REMOVED.why, COPYRIGHT.why}
_TABLE = """
CREATE TABLE IF NOT EXISTS failures (
    video_id TEXT PRIMARY KEY, status TEXT NOT NULL, why TEXT NOT NULL, detail TEXT NOT NULL,
    tries INTEGER NOT NULL, asked_at REAL NOT NULL, next_try REAL
)
"""


@dataclass(frozen=True)
class Entry:
    """Status of a video.

    Attributes:
        video_id: Eleven characters.
        status: `gone` (final), `restricted` (needs an account, another country or a higher limit) or `retry` in the
            ledger; `ok` and `new` outside of it.
        why: The reason in one or two words.
        detail: The reason as YouTube or yt-dlp stated it.
        tries: Number of failures, without failures that concern every video alike.
        asked_at: Time of the last try, in seconds since 1970.
        next_try: Time of the next try, in seconds since 1970; None for never.
    """

    video_id: str
    status: LinkStatus
    why: str = ""
    detail: str = ""
    tries: int = 0
    asked_at: float = 0.0
    next_try: float | None = None


class DownloadLedger:
    """The ledger of a cache. Use it as a context manager and from one thread only.

    Args:
        cache: Folder of the cache; created if missing.

    Raises:
        UserError: The file is not a ledger of this program.
    """

    def __init__(self, cache: Path) -> None:
        cache.mkdir(parents=True, exist_ok=True)
        path = cache / LEDGER
        self._database = sqlite3.connect(path, isolation_level=None, timeout=30)
        try:
            self._database.execute(_TABLE)
        except sqlite3.DatabaseError as error:
            self._database.close()
            raise UserError(f"{path}: not a ledger of this program ({error}); move it away") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def entries(self) -> dict[str, Entry]:
        """Map video ids to entries, sorted by id."""
        rows = self._database.execute("SELECT * FROM failures ORDER BY video_id")
        return {row[0]: _reclassified(Entry(*row)) for row in rows}

    def get(self, video_id: str) -> Entry | None:
        """Return the entry of a video, or None."""
        row = self._database.execute("SELECT * FROM failures WHERE video_id = ?", (video_id,)).fetchone()
        return None if row is None else _reclassified(Entry(*row))

    def put(self, entry: Entry) -> None:
        """Write an entry to the disk."""
        self._database.execute("INSERT OR REPLACE INTO failures VALUES (?, ?, ?, ?, ?, ?, ?)", astuple(entry))

    def remove(self, video_id: str) -> None:
        """Remove the entry of a downloaded video."""
        self._database.execute("DELETE FROM failures WHERE video_id = ?", (video_id,))


def _reclassified(entry: Entry) -> Entry:
    """Return the entry, with another status if it is `gone` for a message that is not final."""
    if entry.status != "gone" or (not entry.detail and entry.why in _FINAL):
        return entry
    kind = kind_of(tidy(entry.detail))
    return entry if kind.status == "gone" else replace(entry, status=kind.status, why=kind.why, next_try=entry.asked_at)


def read_entries(cache: Path) -> dict[str, Entry]:
    """Read the entries of a folder's ledger; empty if it has none. Creates no file."""
    if not (cache / LEDGER).is_file():
        return {}
    with DownloadLedger(cache) as ledger:
        return ledger.entries()


def known_statuses(cache: Path) -> Mapping[str, LinkStatus]:
    """Look up the status of the videos of a folder.

    Args:
        cache: A cache, or any other folder.

    Returns:
        Video id to status; empty if the folder is no cache.
    """
    failed = {video_id: entry.status for video_id, entry in read_entries(cache).items()}
    return failed | dict.fromkeys(AudioCache(cache).videos(), "ok")
