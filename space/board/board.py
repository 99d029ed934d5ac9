"""The board: every stored submission judged and ranked, kept ready for readers while it is made anew."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from musicrs_metric.compare.results import Standing
from musicrs_metric.errors import UserError, plain

from ..store import SetAside, SubmissionStore
from ..store.files import file_name
from ..submission import Submission, SubmissionEntry
from .cache import Cache
from .data import LeaderboardData, PoolDesign
from .judging import judge
from .labels import labels
from .ranking import Member, Standings, StandingsCache
from .rows import Judged, SubmissionRow

_LOG = logging.getLogger(__name__)
_LOOK_EVERY_S = 2.0


@dataclass(frozen=True)
class Snapshot:
    """The board at one moment.

    Attributes:
        rows: All rows, in the order in which they came in.
        set_aside: Stored files without a row, for the owner.
    """

    rows: tuple[SubmissionRow, ...] = ()
    set_aside: tuple[SetAside, ...] = ()

    @cached_property
    def by_key(self) -> dict[str, SubmissionRow]:
        """Key to row."""
        return {row.key: row for row in self.rows}

    def of(self, design: str) -> tuple[SubmissionRow, ...]:
        """The rows on one design of pools."""
        return tuple(row for row in self.rows if row.design == design)


class _Stored(NamedTuple):
    """What a store holds at one moment; while it is the same, so is the board."""

    entries: tuple[SubmissionEntry, ...]
    set_aside: tuple[SetAside, ...]


class Board:
    """A board over a store. Safe to use from many threads.

    Readers get the latest snapshot at once; what another process has added is judged in the background.

    Args:
        data: The pools and labels.
        store: The submissions.
        cache: Folder of what was computed before, which may be deleted at any time; None keeps nothing on disk.
    """

    def __init__(self, data: LeaderboardData, store: SubmissionStore, cache: Path | None) -> None:
        self.data, self.store = data, store
        self._cache, self._rank = Cache(cache), StandingsCache(cache)
        self._judged: dict[str, Judged] = {}
        self._making, self._looking = threading.Lock(), threading.Lock()
        self._snapshot: Snapshot | None = None
        self._made_of: _Stored | None = None
        self._looked_at = 0.0

    def snapshot(self) -> Snapshot:
        """The board as it was last made; only the very first call waits until it is made."""
        if self._snapshot is None:
            return self.refresh()
        if time.monotonic() - self._looked_at > _LOOK_EVERY_S:
            self._looked_at = time.monotonic()
            threading.Thread(target=self._look, daemon=True).start()
        return self._snapshot

    def refresh(self) -> Snapshot:
        """Make the board anew from what is stored now.

        Returns:
            A snapshot with everything that was stored before the call.
        """
        with self._making:
            stored = self._stored()
            if self._snapshot is None or stored != self._made_of:
                self._snapshot, self._made_of = self._make(stored), stored
            self._looked_at = time.monotonic()
            return self._snapshot

    def row(self, key: str) -> SubmissionRow | None:
        """The row of a key; None where the board has none."""
        return self.snapshot().by_key.get(key)

    def submission(self, key: str) -> Submission | None:
        """A row's submission with its predictions, read from the store; None where the board has no such row."""
        return self.store.get(key) if self.row(key) is not None else None

    def standings(self, design: str, genre: str | None = None) -> Standings:
        """Ranks, groups and verdicts on all threads or on those of a genre.

        Args:
            design: Name of the pools.
            genre: One of the data's genres; None for all threads.

        Returns:
            Key to metric to standing. For a genre they are computed when first asked for.

        Raises:
            UserError: There is no such design or genre.
        """
        snapshot, pools = self.snapshot(), self.data.design(design)
        if genre is None:
            return {row.key: row.standings for row in snapshot.of(pools.name)}
        return self._rank(_members(snapshot, pools), pools, genre)

    def _look(self) -> None:
        """Bring the board up to date beside the readers; one such look at a time."""
        if not self._looking.acquire(blocking=False):
            return
        try:
            snapshot = self.refresh()
            for design in self.data.designs:
                self._rank.renew(_members(snapshot, design), design)
        except Exception:  # this runs beside the readers, and whatever it is must not take the page down
            _LOG.exception("the board cannot be made anew; readers see its last state")
        finally:
            self._looking.release()

    def _stored(self) -> _Stored:
        return _Stored(tuple(self.store.entries()), tuple(self.store.set_aside()))

    def _make(self, stored: _Stored) -> Snapshot:
        found: list[tuple[SubmissionEntry, PoolDesign, Judged]] = []
        aside = list(stored.set_aside)
        for entry in stored.entries:
            try:
                design = self.data.of(entry.card.fingerprint)
                found.append((entry, design, self._judge(entry, design)))
            except UserError as error:
                aside.append(SetAside(file_name(entry.key), str(error)))
        known = () if self._snapshot is None else self._snapshot.set_aside
        for file in aside:
            if file not in known:
                _LOG.warning("set aside: %s: %s", plain(file.file), file.reason)
        named = labels([entry for entry, _, _ in found])
        rows = [
            SubmissionRow(entry=entry, label=label, design=design.name, judged=judged, standings={})
            for (entry, design, judged), label in zip(found, named, strict=True)
        ]
        ranked: dict[str, Mapping[str, Standing]] = {}
        for design in self.data.designs:
            members = [Member(row.key, row.system) for row in rows if row.design == design.name]
            ranked |= self._rank(members, design)
        peers = Counter((row.design, row.entry.card.reads) for row in rows)
        copies: dict[tuple[str, str], list[SubmissionRow]] = defaultdict(list)
        for row in rows:
            copies[row.design, row.entry.predictions_hash].append(row)
        complete = (
            replace(
                row,
                standings=ranked[row.key],
                peers=peers[row.design, row.entry.card.reads],
                identical_to=tuple(
                    copy.label for copy in copies[row.design, row.entry.predictions_hash] if copy is not row
                ),
            )
            for row in rows
        )
        return Snapshot(tuple(complete), tuple(aside))

    def _judge(self, entry: SubmissionEntry, design: PoolDesign) -> Judged:
        judged = self._judged.get(entry.key) or self._cache.load(entry.key, design)
        if judged is None:
            submission = self.store.get(entry.key)
            if submission is None:
                raise UserError("its predictions cannot be read")
            judged = judge(submission.predictions, design)
            self._cache.save(entry.key, design, judged)
        self._judged[entry.key] = judged
        return judged


def _members(snapshot: Snapshot, design: PoolDesign) -> list[Member]:
    return [Member(row.key, row.system) for row in snapshot.of(design.name)]
