"""Standings of all rows, cached until the rows, their labels or the code change."""

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
from musicrs_metric.compare.standings import standings
from musicrs_metric.compare.systems import Mask, System
from musicrs_metric.errors import UserError, show
from musicrs_metric.runs.run_card import Reads

from .cache import code_version, write_bytes
from .data import PoolDesign

Standings = Mapping[str, Mapping[str, Standing]]
"""Key of a row to metric to standing."""


class Member(NamedTuple):
    """A row to be ranked.

    Attributes:
        key: Its key.
        system: Its label, its values, and its `reads`. Rows are ranked only with rows that read the same.
    """

    key: str
    system: System


class _Known(NamedTuple):
    """The last standings.

    Attributes:
        state: Hash of the rows, their labels and the code.
        standings: The result.
        made_at: Time of the computation, in seconds of the monotonic clock.
    """

    state: str
    standings: Standings
    made_at: float


class StandingsCache:
    """Ranks rows. The last result per pool design, genre and `reads` is kept in memory and on disk.

    Every new submission changes every ranking, and a reader of the table of a genre must not wait for that. Ranks
    within a genre are therefore those of the last computation, until `renew` replaces them. Ranks on all threads are
    always current.

    Args:
        folder: Folder of the results, which may be deleted at any time; None for no files.
        genre_age_s: Age in seconds from which ranks within a genre are replaced.
    """

    def __init__(self, folder: Path | None, *, genre_age_s: float = 15.0) -> None:
        self.folder, self.genre_age_s = folder, genre_age_s
        self._known: dict[str, _Known] = {}
        self._locks: dict[str, threading.Lock] = {}

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
        chosen = None if genre is None else _threads_of(design, genre)
        ranked: dict[str, Mapping[str, Standing]] = {}
        for peers in _by_reads(members):
            name, state = _file_name(design, genre, peers), _state(peers)
            with self._locks.setdefault(name, threading.Lock()):  # one of several simultaneous readers computes it
                known = self._known.get(name)
                if known is None or (genre is None and known.state != state):
                    result = self._load(name, state) or self._rank(peers, chosen, name, state)
                    known = self._known[name] = _Known(state, result, time.monotonic())
            ranked |= known.standings
        return ranked

    def renew(self, members: Sequence[Member], design: PoolDesign) -> None:
        """Compute old ranks within genres again, for the genres that a reader has opened.

        Args:
            members: All rows on the pool design.
            design: The data.
        """
        for genre in design.genres:
            for peers in _by_reads(members):
                name, state = _file_name(design, genre, peers), _state(peers)
                known = self._known.get(name)
                if known is None or known.state == state or time.monotonic() - known.made_at < self.genre_age_s:
                    continue
                result = self._rank(peers, _threads_of(design, genre), name, state)
                self._known[name] = _Known(state, result, time.monotonic())

    def _rank(self, peers: Sequence[Member], chosen: Mask | None, name: str, state: str) -> Standings:
        ranked = standings([peer.system for peer in peers], HEADLINE, chosen=chosen)
        result = {peer.key: standing for peer, standing in zip(peers, ranked, strict=True)}
        if self.folder is not None:
            plain = {key: {metric: asdict(one) for metric, one in of.items()} for key, of in result.items()}
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                write_bytes(self.folder / name, to_json({"state": state, "standings": plain}).encode())
            except OSError:  # a disk that cannot be written costs time later, nothing else
                pass
        return result

    def _load(self, name: str, state: str) -> Standings | None:
        if self.folder is None:
            return None
        try:
            values = strict_json((self.folder / name).read_text(encoding="utf-8"))
            if values["state"] != state:
                return None
            return {
                key: {metric: _standing(one) for metric, one in of.items()} for key, of in values["standings"].items()
            }
        except (OSError, ValueError, LookupError, TypeError, AttributeError):  # missing, cut off, or of another form
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


def _file_name(design: PoolDesign, genre: str | None, peers: Sequence[Member]) -> str:
    return f"standings-{_digest([design.fingerprint, genre, peers[0].system.reads])[:16]}.json"


def _state(peers: Sequence[Member]) -> str:
    return _digest([code_version(), *([peer.key, peer.system.name] for peer in peers)])


def _threads_of(design: PoolDesign, genre: str) -> Mask:
    labels = design.references.groups["genre"]
    if genre not in labels:
        raise UserError(f"genre {show(genre)}: not in this data, expected one of {', '.join(design.genres)}")
    return np.array([label == genre for label in labels], dtype=bool)


def _digest(value: Any) -> str:
    return hashlib.sha256(to_json(value).encode()).hexdigest()
