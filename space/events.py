"""Event log of the leaderboard for its owner: time, event, key, a keyed hash of the caller, and a note in words."""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
import secrets
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from musicrs_metric.base.files import strict_json, to_json
from musicrs_metric.base.jsonl_log import JsonlLog, read_log

from .store.notes import now

EVENTS = "events.jsonl"
_OLDER = ".1"
_HASH_KEY = ".caller-hash-key"
_LARGEST = 1_000_000  # bytes of one of the two files
_KEPT = 200  # events in memory, for a disk that is full
_QUIET_S = 60.0  # a caller who repeats an event within this time adds no line
_QUIET_CALLERS = 1_000
_REPEATING = ("limit",)
_LONGEST = 300  # characters of a note
_LOG = logging.getLogger(__name__)


class Event(NamedTuple):
    """An event.

    Attributes:
        time: ISO 8601 in UTC.
        event: "submission", "refusal", "limit", "edit", "withdrawal", "wrong receipt", "disk full", "hub trouble", ...
        key: Key of the row; empty for an event without one.
        caller: Keyed hash of the caller; empty for the server itself.
        note: Details in words.
    """

    time: str
    event: str
    key: str = ""
    caller: str = ""
    note: str = ""


class EventLog:
    """The event log in the folder of a leaderboard. Safe to use from many threads and processes.

    The log has two files of at most one megabyte. The older half is deleted when the newer one is full. A log that
    cannot be written costs the lines on disk, and never the call that it describes.

    Args:
        folder: Folder of the results; None for events in memory only.
    """

    def __init__(self, folder: Path | None) -> None:
        self.path = None if folder is None else folder / EVENTS
        self._latest: deque[Event] = deque(maxlen=_KEPT)
        self._quiet: OrderedDict[tuple[str, str], float] = OrderedDict()
        self._lock = threading.Lock()
        self._secret: bytes | None = None

    def add(self, event: str, *, key: str = "", caller: str = "", note: str = "") -> None:
        """Add an event.

        Args:
            event: Its kind.
            key: Key of the row.
            caller: The caller, from `space.web.rate_limits.caller_of`. Only its keyed hash is stored.
            note: Details in words.
        """
        with self._lock:
            hashed = self._hash(caller) if caller else ""
            if event in _REPEATING and self._is_repeated(event, hashed):
                return
            words = " ".join(note.split())[:_LONGEST].encode(errors="backslashreplace").decode()
            line = Event(now(), event, key, hashed, words)
            self._latest.append(line)
            if self.path is not None:
                self._write(self.path, line)

    def latest(self, n: int) -> list[Event]:
        """Return the last events, newest first."""
        with self._lock:
            on_disk = [] if self.path is None else list(_read(self.path))
            known = set(on_disk)
            events = on_disk + [event for event in self._latest if event not in known]
        return sorted(events, reverse=True)[:n]

    def _write(self, path: Path, line: Event) -> None:
        try:
            if path.exists() and path.stat().st_size > _LARGEST:
                os.replace(path, path.with_name(path.name + _OLDER))
            with JsonlLog(path) as log:
                log.append([to_json(line._asdict())])
        except OSError as error:
            _LOG.warning("the event log cannot be written (%s)", error.strerror)

    def _is_repeated(self, event: str, caller: str) -> bool:
        moment, name = time.monotonic(), (event, caller)
        last = self._quiet.get(name)
        if last is not None and moment - last < _QUIET_S:
            return True
        self._quiet[name] = moment
        self._quiet.move_to_end(name)
        if len(self._quiet) > _QUIET_CALLERS:
            self._quiet.popitem(last=False)
        return False

    def _hash(self, caller: str) -> str:
        """Return a hash that only the holder of the key on this disk can compute from a name or an IP address."""
        if self._secret is None:
            self._secret = _secret(self.path)
        return hmac.new(self._secret, caller.encode(errors="surrogatepass"), hashlib.sha256).hexdigest()[:12]


def _secret(path: Path | None) -> bytes:
    """Return the key of the hashes, which all processes of a leaderboard share. Without a disk it is a new one."""
    fresh = secrets.token_bytes(32)
    if path is None:
        return fresh
    file = path.with_name(_HASH_KEY)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_name(f"{_HASH_KEY}.{os.getpid()}")
        part.touch(mode=0o600)
        part.write_bytes(fresh)
        try:
            os.link(part, file)  # in one step, so that two processes agree on the first one
        except FileExistsError:
            pass
        finally:
            part.unlink()
        return file.read_bytes() or fresh
    except OSError:
        return fresh


def _read(path: Path) -> Iterator[Event]:
    for file in (path.with_name(path.name + _OLDER), path):
        try:
            lines = list(read_log(file))
        except OSError:
            continue
        for line in lines:
            try:
                values: Any = strict_json(line.data.decode())
                event = Event(**values)
            except (ValueError, TypeError):
                continue
            if all(isinstance(value, str) for value in event):
                yield event
