"""Standings of all rows of a board, remembered as long as nothing that decides them has changed."""

from __future__ import annotations

import hashlib
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from musicrs_metric.base.files import strict_json, to_json
from musicrs_metric.compare import HEADLINE
from musicrs_metric.compare.results import AgainstChance, Standing
from musicrs_metric.compare.systems import System
from musicrs_metric.errors import UserError, show
from musicrs_metric.runs.run_card import Reads

from .cache import code_version, write_bytes
from .data import PoolDesign
from .standings import Mask, standings

Standings = Mapping[str, Mapping[str, Standing]]
"""Key of a row to metric to standing."""


class Member(NamedTuple):
    """A row that is to be ranked.

    Attributes:
        key: Its key.
        system: Its label, its values, and what it reads; rows are ranked only with those that read the same.
    """

    key: str
    system: System


class _Known(NamedTuple):
    """What was ranked last.

    Attributes:
        state: What decides it: the rows, their labels and the code.
        standings: The result.
        made_at: When, in seconds of the monotonic clock.
    """

    state: str
    standings: Standings
    made_at: float


class StandingsCache:
    """Ranks rows; the last result for each design, genre and `reads` is kept in memory and on disk.

    Every new submission changes every ranking, and nobody who opens the table of a genre is to wait for that. So ranks
    within a genre are those made last, until `renew` makes them anew; ranks on all threads are never old.

    Args:
        folder: Where results lie, and may be deleted at any time; None keeps nothing on disk.
        genre_age_s: How old ranks within a genre are before they are made anew, in seconds.
    """

    def __init__(self, folder: Path | None, *, genre_age_s: float = 15.0) -> None:
        self.folder, self.genre_age_s = folder, genre_age_s
        self._known: dict[str, _Known] = {}
        self._locks: dict[str, threading.Lock] = {}

    def __call__(self, members: Sequence[Member], design: PoolDesign, genre: str | None = None) -> Standings:
        """Rank rows on one design of pools.

        Args:
            members: The rows.
            design: The data.
            genre: Rank on the threads of this genre alone.

        Returns:
            Key to metric to standing; in a genre, a row that has just come in may be missing.

        Raises:
            UserError: The data has no such genre.
        """
        chosen = None if genre is None else _threads_of(design, genre)
        ranked: dict[str, Mapping[str, Standing]] = {}
        for peers in _by_reads(members):
            place, state = _place(design, genre, peers), _state(peers)
            with self._locks.setdefault(place, threading.Lock()):  # of several who ask for the same, one computes it
                known = self._known.get(place)
                if known is None or (genre is None and known.state != state):
                    found = self._load(place, state) or self._make(peers, chosen, place, state)
                    known = self._known[place] = _Known(state, found, time.monotonic())
            ranked |= known.standings
        return ranked

    def renew(self, members: Sequence[Member], design: PoolDesign) -> None:
        """Make ranks within genres anew that somebody has asked for and that have become old.

        Args:
            members: All rows on the design.
            design: The data.
        """
        for genre in design.genres:
            for peers in _by_reads(members):
                place, state = _place(design, genre, peers), _state(peers)
                known = self._known.get(place)
                if known is None or known.state == state or time.monotonic() - known.made_at < self.genre_age_s:
                    continue
                found = self._make(peers, _threads_of(design, genre), place, state)
                self._known[place] = _Known(state, found, time.monotonic())

    def _make(self, peers: Sequence[Member], chosen: Mask | None, place: str, state: str) -> Standings:
        found = standings([peer.system for peer in peers], HEADLINE, chosen=chosen)
        made = {peer.key: standing for peer, standing in zip(peers, found, strict=True)}
        if self.folder is not None:
            plain = {key: {name: asdict(one) for name, one in of.items()} for key, of in made.items()}
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                write_bytes(self.folder / place, to_json({"state": state, "standings": plain}).encode())
            except OSError:  # a disk that takes nothing costs time later, and nothing else
                pass
        return made

    def _load(self, place: str, state: str) -> Standings | None:
        if self.folder is None:
            return None
        try:
            values = strict_json((self.folder / place).read_text(encoding="utf-8"))
            if values["state"] != state:
                return None
            return {key: {name: _standing(one) for name, one in of.items()} for key, of in values["standings"].items()}
        except (OSError, ValueError, LookupError, TypeError, AttributeError):  # absent, cut off, or of another form
            return None


def _standing(values: dict[str, Any]) -> Standing:
    chance = values["chance"] and AgainstChance(**values["chance"] | {"interval": _pair(values["chance"]["interval"])})
    pairs = {name: _pair(values[name]) for name in ("interval", "rank_interval")}
    return Standing(**values | pairs | {"chance": chance})


def _pair(values: list[Any] | None) -> tuple[Any, Any] | None:
    return None if values is None else (values[0], values[1])


def _by_reads(members: Sequence[Member]) -> Iterable[Sequence[Member]]:
    peers: dict[Reads | None, list[Member]] = defaultdict(list)
    for member in members:
        peers[member.system.reads].append(member)
    return peers.values()


def _place(design: PoolDesign, genre: str | None, peers: Sequence[Member]) -> str:
    return f"standings-{_digest([design.fingerprint, genre, peers[0].system.reads])[:16]}.json"


def _state(peers: Sequence[Member]) -> str:
    return _digest([code_version(), *([peer.key, peer.system.name] for peer in peers)])


def _threads_of(design: PoolDesign, genre: str) -> Mask:
    labels = design.references.groups["genre"]
    if genre not in labels:
        raise UserError(f"genre {show(genre)}: not in this data, expected one of {', '.join(design.genres)}")
    return np.array([label == genre for label in labels], dtype=bool)


def _digest(what: Any) -> str:
    return hashlib.sha256(to_json(what).encode()).hexdigest()
