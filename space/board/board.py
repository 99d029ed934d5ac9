"""Leaderboard: judges and ranks every stored submission, and keeps the result ready for readers while it is updated."""

from __future__ import annotations

import logging
import math
import random
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
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
from .judging import judge, still_valid
from .labels import labels
from .lru import RecentValues, Value
from .ranking import Member, Standings, StandingsCache
from .rows import Judged, SubmissionRow

_LOG = logging.getLogger(__name__)
_LOOK_EVERY_S = 2.0
_OPENS_WITHIN_S, _PUBLISHES_EVERY_S = 1.0, 5.0


@dataclass(frozen=True)
class Snapshot:
    """The leaderboard at one moment.

    Attributes:
        rows: All rows of submissions, in the order of arrival.
        set_aside: Stored files without a row, for the leaderboard owner.
        pending: Number of stored submissions that are not scored yet.
        number: Number of the update. Caches name it.
    """

    rows: tuple[SubmissionRow, ...] = ()
    set_aside: tuple[SetAside, ...] = ()
    pending: int = 0
    number: int = 0

    @cached_property
    def by_key(self) -> dict[str, SubmissionRow]:
        """Key to row."""
        return {row.key: row for row in self.rows}

    def of(self, design: str) -> tuple[SubmissionRow, ...]:
        """Return the rows on one pool design."""
        return tuple(row for row in self.rows if row.design == design)


class _Stored(NamedTuple):
    """Content of a store at one moment. The leaderboard changes only when it changes."""

    entries: tuple[SubmissionEntry, ...]
    set_aside: tuple[SetAside, ...]


class Board:
    """A leaderboard over a store. Safe to use from many threads.

    Readers get the latest snapshot at once. Submissions that another process has stored are judged in the background.

    Args:
        data: Pool designs.
        store: The submissions.
        cache: Folder of computed scores, which may be deleted at any time; None for no cache on disk.
        older: True for an older version of the data: only the submissions that were made for it have rows.
    """

    def __init__(
        self, data: LeaderboardData, store: SubmissionStore, cache: Path | None, *, older: bool = False
    ) -> None:
        self.data, self.store, self.older = data, store, older
        self._cache, self._rank = Cache(cache), StandingsCache()
        self._judged: dict[str, Judged] = {}
        self._failed: dict[str, tuple[SubmissionEntry, str]] = {}
        self._updating, self._looking = threading.Lock(), threading.Lock()
        self._recent = RecentValues()
        self._snapshot: Snapshot | None = None
        self._source: _Stored | None = None
        self._looked_at = 0.0

    def snapshot(self) -> Snapshot:
        """Return the latest snapshot. Only the very first call waits until one is computed."""
        if self._snapshot is None:
            return self.refresh()
        if time.monotonic() - self._looked_at > _LOOK_EVERY_S:
            self._looked_at = time.monotonic()
            threading.Thread(target=self._look, daemon=True).start()
        return self._snapshot

    def open(self, within_s: float = _OPENS_WITHIN_S) -> None:
        """Publish the rows that can be scored within some seconds, and score the others in the background."""
        self.refresh(within_s=within_s)
        threading.Thread(target=self._look, daemon=True).start()

    def refresh(self, *, within_s: float = math.inf) -> Snapshot:
        """Update the leaderboard from the store.

        Args:
            within_s: Seconds after which no further submission is scored. The rest stays pending.

        Returns:
            A snapshot with everything that was stored before the call, except what is pending.
        """
        self._judge_missing(self._stored().entries, within_s)
        with self._updating:
            stored = self._stored()
            if self._snapshot is None or self._snapshot.pending or stored != self._source:
                self._snapshot, self._source = self._build(stored), stored
            self._looked_at = time.monotonic()
            return self._snapshot

    def prepare(self, submission: Submission) -> None:
        """Score a submission that is about to be stored, while its predictions are in memory.

        Raises:
            UserError: It cannot be scored.
        """
        self._judge(submission, submission)

    def cached(self, name: Hashable, compute: Callable[[], Value], *, by_state: bool = True) -> Value:
        """Return a value that readers have asked for before, computed if it is not kept.

        Args:
            name: Name of the value.
            compute: Computes it.
            by_state: False for a value that depends on no other row and on no standing.
        """
        state = (self.snapshot().number, self._rank.renewals) if by_state else None
        return self._recent.get((state, name), compute)

    def row(self, key: str) -> SubmissionRow | None:
        """Return the row of a key; None if there is none."""
        return self.snapshot().by_key.get(key)

    def submission(self, key: str) -> Submission | None:
        """Read the submission of a row with its predictions; None if there is no such row."""
        return self.store.get(key) if self.row(key) is not None else None

    def standings(self, design: str, genre: str | None = None) -> Standings:
        """Return ranks, rank groups and verdicts on all threads or on those of a genre.

        Args:
            design: Name of the pool design.
            genre: A genre of the data; None for all threads.

        Returns:
            Key to measure to standing. Standings of a genre are computed at the first request.

        Raises:
            UserError: There is no such pool design or genre.
        """
        snapshot, pools = self.snapshot(), self.data.design(design)
        if genre is None:
            return {row.key: row.standings for row in snapshot.of(pools.name)}
        return self._rank(_members(snapshot, pools), pools, genre)

    def _look(self) -> None:
        """Update the leaderboard in the background, one update at a time."""
        if not self._looking.acquire(blocking=False):
            return
        try:
            while (snapshot := self.refresh(within_s=_PUBLISHES_EVERY_S)).pending:
                pass
            for design in self.data.designs:
                self._rank.renew(_members(snapshot, design), design)
        except Exception:  # this thread runs next to the readers, and no error may stop the page
            _LOG.exception("the leaderboard cannot be updated; readers see its last state")
        finally:
            self._looking.release()

    def _stored(self) -> _Stored:
        entries = tuple(self.store.entries())
        if self.older:
            return _Stored(tuple(entry for entry in entries if entry.card.fingerprint in self.data.by_fingerprint), ())
        return _Stored(entries, tuple(self.store.set_aside()))

    def _judge_missing(self, entries: Sequence[SubmissionEntry], within_s: float) -> None:
        """Score the submissions without scores. A failed one is tried again once its file has changed."""
        until = time.monotonic() + within_s
        missing = [e for e in entries if e.key not in self._judged and self._failed.get(e.key, (None,))[0] is not e]
        random.shuffle(missing)  # several processes that start at once share the work through the cache on disk
        for entry in missing:
            if time.monotonic() >= until:
                break
            try:
                self._judge(entry)
            except UserError as error:
                self._failed[entry.key] = (entry, str(error))

    def _build(self, stored: _Stored) -> Snapshot:
        keys = {entry.key for entry in stored.entries}
        self._judged = {key: judged for key, judged in list(self._judged.items()) if key in keys}
        self._failed = {key: failed for key, failed in list(self._failed.items()) if key in keys - self._judged.keys()}
        judged_entries = [
            (entry, self.data.for_card(entry.card), self._judged[entry.key])
            for entry in stored.entries
            if entry.key in self._judged
        ]
        failed = [SetAside(file_name(key), reason) for key, (_, reason) in self._failed.items()]
        aside = [*stored.set_aside, *failed]
        pending = len(keys) - len(judged_entries) - len(failed)
        known = () if self._snapshot is None else self._snapshot.set_aside
        for file in aside:
            if file not in known:
                _LOG.warning("set aside: %s: %s", plain(file.file), file.reason)
        names = labels([entry for entry, _, _ in judged_entries])
        rows = [
            SubmissionRow(
                entry=entry,
                label=label,
                design=design.name,
                judged=judged,
                standings={},
                other_data=design.other_data(entry.card.fingerprint),
            )
            for (entry, design, judged), label in zip(judged_entries, names, strict=True)
        ]
        rows = _with_relations(rows)
        ranked: dict[str, Mapping[str, Standing]] = {}
        for design in self.data.designs:
            ranked |= self._rank([_member(row) for row in rows if row.design == design.name], design)
        number = 1 if self._snapshot is None else self._snapshot.number + 1
        rows = [replace(row, standings=ranked[row.key]) for row in rows]
        return Snapshot(tuple(rows), tuple(aside), pending, number)

    def _judge(self, entry: SubmissionEntry, submission: Submission | None = None) -> None:
        if entry.key in self._judged:
            return
        design = self.data.for_card(entry.card)
        judged = self._cache.load(entry.key, design)
        if judged is None:
            submission = submission or self.store.get(entry.key)
            if submission is None:
                raise UserError("its predictions cannot be read")
            predictions = submission.predictions
            if design.other_data(entry.card.fingerprint):
                predictions = tuple(still_valid(predictions, design))
            judged = judge(predictions, design)
            self._cache.save(entry.key, design, judged)
        self._judged[entry.key] = judged


def _members(snapshot: Snapshot, design: PoolDesign) -> list[Member]:
    return [_member(row) for row in snapshot.of(design.name)]


def _member(row: SubmissionRow) -> Member:
    return Member(row.key, row.system, row.judged.alone, row.unranked is None)


def _with_relations(rows: Sequence[SubmissionRow]) -> list[SubmissionRow]:
    """Add what depends on the other rows: identical rows, the reason against a rank, and the number of ranked peers."""
    copies: dict[tuple[str, str], list[SubmissionRow]] = defaultdict(list)
    for row in rows:
        copies[row.design, row.judged.ranks_hash].append(row)
    related = []
    for row in rows:
        same = copies[row.design, row.judged.ranks_hash]
        others = tuple(other.label for other in same if other is not row)
        related.append(replace(row, identical_to=others, unranked=_why_unranked(row, same[0])))
    peers = Counter((row.design, row.entry.card.reads) for row in related if row.unranked is None)
    return [replace(row, peers=peers[row.design, row.entry.card.reads]) for row in related]


def _why_unranked(row: SubmissionRow, first: SubmissionRow) -> str | None:
    if row.entry.partial:
        return "partial"
    if row.other_data and row.scores.n_missing:
        return "predictions for another version of the data, and for fewer threads"
    if row.entry.card.extra.get("control"):
        return "control run"
    # The row that arrived first keeps its rank. Otherwise a copy of a public file could take it away.
    return None if row is first else f"identical to {first.label}"
