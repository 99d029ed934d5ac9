"""Videos that could not be downloaded, and why: an SQLite file in the cache, one row per video.

A row is written in one transaction, so a kill at any moment leaves the old row or the new one. Downloaded videos need
no row: their file is in the cache. Earlier versions gave videos up on words that are not final. Their rows are judged
again by the stored words whenever they are read.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self

from musicrs_metric.errors import UserError

from ..records import LinkStatus
from .fetch.cache import AudioStore
from .fetch.kinds import COPYRIGHT, PRIVATE, REMOVED
from .fetch.messages import kind_of, tidy

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
    """What is known of a video.

    Attributes:
        video_id: Its eleven characters.
        status: `gone` (final), `restricted` (needs an account, another place or a higher limit) or `retry` in the
            ledger; `ok` and `new` beyond it.
        why: The reason in a word or two.
        detail: The reason as it was told.
        tries: Number of failures, without those that concern every video alike.
        asked_at: When it was last asked for, in seconds since 1970.
        next_try: When to ask again, in seconds since 1970; None for never.
    """

    video_id: str
    status: LinkStatus
    why: str = ""
    detail: str = ""
    tries: int = 0
    asked_at: float = 0.0
    next_try: float | None = None


class Ledger:
    """The ledger of a cache; use it as a context manager and from one thread.

    Args:
        cache: The cache; made if missing.

    Raises:
        UserError: Its ledger is not one of this program.
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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.close()

    def entries(self) -> dict[str, Entry]:
        """Video id to entry, sorted by id."""
        rows = self._database.execute("SELECT * FROM failures ORDER BY video_id")
        return {row[0]: _judged_again(Entry(*row)) for row in rows}

    def get(self, video_id: str) -> Entry | None:
        """Return the entry of a video; None where there is none."""
        row = self._database.execute("SELECT * FROM failures WHERE video_id = ?", (video_id,)).fetchone()
        return None if row is None else _judged_again(Entry(*row))

    def put(self, entry: Entry) -> None:
        """Write an entry; it is on disk when this returns."""
        self._database.execute("INSERT OR REPLACE INTO failures VALUES (?, ?, ?, ?, ?, ?, ?)", astuple(entry))

    def remove(self, video_id: str) -> None:
        """Remove an entry, because its video is downloaded."""
        self._database.execute("DELETE FROM failures WHERE video_id = ?", (video_id,))


def _judged_again(entry: Entry) -> Entry:
    """The entry, open again where it was given up on words that are not final."""
    if entry.status != "gone" or (not entry.detail and entry.why in _FINAL):
        return entry
    kind = kind_of(tidy(entry.detail))
    return entry if kind.status == "gone" else replace(entry, status=kind.status, why=kind.why, next_try=entry.asked_at)


def read_entries(cache: Path) -> dict[str, Entry]:
    """Read the ledger of a folder as `Ledger.entries` does; empty where there is none, and nothing is made."""
    if not (cache / LEDGER).is_file():
        return {}
    with Ledger(cache) as ledger:
        return ledger.entries()


def known_statuses(cache: Path) -> Mapping[str, LinkStatus]:
    """Find what is known of the videos of a folder.

    Args:
        cache: A cache, or any other folder.

    Returns:
        Video id to status; empty where the folder is no cache.
    """
    failed = {video_id: entry.status for video_id, entry in read_entries(cache).items()}
    return failed | dict.fromkeys(AudioStore(cache).videos(), "ok")
