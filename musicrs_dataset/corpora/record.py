"""The record that every reader of another corpus returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from musicrs_metric.catalogue.items import Catalogue

from ..records import Thread
from ..sources import About

UNLABELLED = "Unlabelled"
"""Genre of threads without one."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a dialogue, to be answered by ranking a catalogue.

    Attributes:
        thread_id: Key of the turn, such as "<dialogue>:<turn>".
        dialogue: Key of the dialogue.
        turn: Number or name of the turn within it.
        query: Text that a system gets.
        ground_truth: Relevant ids of the catalogue, before the known ones are removed.
        known: Ids that the listener knows by then.
        links: Video ids or URLs that the dialogue holds by then.
        columns: Further labels of the turn, for `--by`.
    """

    thread_id: str
    dialogue: str
    turn: str
    query: str
    ground_truth: tuple[str, ...]
    known: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)


class CatalogueSource(NamedTuple):
    """Turns in dataset order, their catalogue, and their origin and terms."""

    turns: list[Turn]
    catalogue: Catalogue
    about: About


class PoolSource(NamedTuple):
    """Threads with pools, and their origin and terms."""

    threads: list[Thread]
    about: About
