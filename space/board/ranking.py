"""Standings of the rows of a leaderboard, computed again only where the ranked rows have changed."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from musicrs_metric.compare import HEADLINE
from musicrs_metric.compare.results import Standing
from musicrs_metric.compare.standings import RANK_RESAMPLES, Alone, StandingsMemory, measure_alone, standings
from musicrs_metric.compare.systems import Mask, System
from musicrs_metric.errors import UserError, show

from .data import PoolDesign

Standings = Mapping[str, Mapping[str, Standing]]
"""Key of a row to metric to standing."""


class Member(NamedTuple):
    """A row in its section: the rows on the same pools that read the same.

    Attributes:
        key: Its key.
        system: Its label, its values, and its `reads`.
        alone: Its statistics on all threads.
        is_ranked: False for a row outside of the ranking. It gets a verdict, and is compared with no other row.
    """

    key: str
    system: System
    alone: Alone
    is_ranked: bool = True


class _Known(NamedTuple):
    """The last standings of a section.

    Attributes:
        state: Keys, labels and ranked rows.
        standings: The result.
        made_at: Time of the computation, in seconds of the monotonic clock.
        memory: Comparisons that the next computation need not repeat; empty within a genre.
    """

    state: tuple[tuple[str, str, bool], ...]
    standings: Standings
    made_at: float
    memory: StandingsMemory


class StandingsCache:
    """Ranks rows. The last result per pool design, genre and `reads` is kept in memory.

    A reader of the table of a genre must not wait for the ranking after each submission. Ranks within a genre are
    therefore those of the last computation, until `renew` replaces them. Ranks on all threads are always current.

    Args:
        genre_age_s: Age in seconds from which ranks within a genre are replaced.
    """

    def __init__(self, *, genre_age_s: float = 15.0) -> None:
        self.genre_age_s = genre_age_s
        self._known: dict[tuple[str, str | None, str | None], _Known] = {}
        self._locks: dict[tuple[str, str | None, str | None], threading.Lock] = defaultdict(threading.Lock)
        self._of_genre: dict[tuple[str, str], Alone] = {}
        self.renewals = 0
        """Number of times that ranks within a genre were replaced."""

    def __call__(self, members: Sequence[Member], design: PoolDesign, genre: str | None = None) -> Standings:
        """Rank rows on one pool design.

        Args:
            members: The rows.
            design: The data.
            genre: Rank on the threads of this genre only.

        Returns:
            Key to measure to standing. In a genre, a row that has just arrived may be missing.

        Raises:
            UserError: The data has no such genre.
        """
        if genre is not None:
            _threads_of(design, genre)
        ranked: dict[str, Mapping[str, Standing]] = {}
        for reads, section in _sections(members).items():
            name = (design.fingerprint, genre, reads)
            with self._locks[name]:  # one of several simultaneous readers computes it
                known = self._known.get(name)
                if known is None or (genre is None and known.state != _state(section)):
                    known = self._known[name] = self._rank(section, design, genre, known)
            ranked |= known.standings
        return ranked

    def renew(self, members: Sequence[Member], design: PoolDesign) -> None:
        """Compute old ranks within genres again, for the genres that a reader has opened.

        Args:
            members: All rows on the pool design.
            design: The data.
        """
        for genre in design.genres:
            for reads, section in _sections(members).items():
                name = (design.fingerprint, genre, reads)
                known = self._known.get(name)
                if known is None or known.state == _state(section) or self._is_recent(known):
                    continue
                with self._locks[name]:
                    self._known[name] = self._rank(section, design, genre, known)
                    self.renewals += 1

    def _is_recent(self, known: _Known) -> bool:
        return time.monotonic() - known.made_at < self.genre_age_s

    def _rank(self, section: Sequence[Member], design: PoolDesign, genre: str | None, known: _Known | None) -> _Known:
        chosen = None if genre is None else _threads_of(design, genre)
        # Readers wait for the ranks on all threads only. Comparisons of every genre would take too much memory.
        memory = StandingsMemory() if known is None or genre is not None else known.memory
        before = {} if known is None else dict(zip(known.state, known.standings.values(), strict=True))
        ranked = [member for member in section if member.is_ranked]
        placed = iter(self._place(ranked, chosen, genre, memory) if ranked else [])
        result: dict[str, Mapping[str, Standing]] = {}
        for member, state in zip(section, _state(section), strict=True):
            if member.is_ranked:
                result[member.key] = next(placed)
            else:  # its standing depends on no other row
                result[member.key] = before.get(state) or self._place([member], chosen, genre, StandingsMemory())[0]
        return _Known(_state(section), result, time.monotonic(), memory if genre is None else StandingsMemory())

    def _place(
        self, members: Sequence[Member], chosen: Mask | None, genre: str | None, memory: StandingsMemory
    ) -> list[dict[str, Standing]]:
        systems, keys = [member.system for member in members], [member.key for member in members]
        alone = [self._alone(member, genre, chosen) for member in members]
        return standings(systems, HEADLINE, chosen=chosen, alone=alone, keys=keys, memory=memory)

    def _alone(self, member: Member, genre: str | None, chosen: Mask | None) -> Alone:
        if genre is None:
            return member.alone
        known = self._of_genre.get((member.key, genre))
        if known is None:
            # The intervals of a genre are those of the scores. Here the draws of the ranks are enough.
            known = measure_alone(member.system, HEADLINE, chosen=chosen, resamples=RANK_RESAMPLES)
            self._of_genre[member.key, genre] = known
        return known


def _sections(members: Sequence[Member]) -> Mapping[str | None, Sequence[Member]]:
    sections: dict[str | None, list[Member]] = defaultdict(list)
    for member in members:
        sections[member.system.reads].append(member)
    return sections


def _state(section: Sequence[Member]) -> tuple[tuple[str, str, bool], ...]:
    return tuple((member.key, member.system.name, member.is_ranked) for member in section)


def _threads_of(design: PoolDesign, genre: str) -> Mask:
    labels = design.genre_of_units
    if genre not in labels:
        raise UserError(f"genre {show(genre)}: not in this data, expected one of {', '.join(design.genres)}")
    return np.array([label == genre for label in labels], dtype=bool)
