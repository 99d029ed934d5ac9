"""Invented music of the mini dataset: the sound of each style, and its songs, artists and albums."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any

from ..records import Entities
from .synth import Sound


@dataclass(frozen=True)
class Style:
    """A kind of music within one subreddit.

    Attributes:
        subreddit: Subreddit of the style.
        name: Name of the style, unique within the subreddit.
        sound: Common properties of its recordings.
        entities: Invented songs, artists and albums; many names hint at the sound.
    """

    subreddit: str
    name: str
    sound: Sound
    entities: Entities

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Songs, artists and albums, in this order."""
        return self.entities.songs + self.entities.artists + self.entities.albums

    def select(self, names: tuple[str, ...]) -> Entities:
        """Sort names into songs, artists and albums; names that the style lacks are dropped."""
        kinds = (self.entities.songs, self.entities.artists, self.entities.albums)
        return Entities(*(tuple(name for name in names if name in kind) for kind in kinds))


def load_catalogue() -> list[Style]:
    """Read all styles, in file order: subreddit by subreddit."""
    return [
        Style(
            row["subreddit"],
            row["style"],
            Sound(**row["sound"]),
            Entities(tuple(row["songs"]), tuple(row["artists"]), tuple(row["albums"])),
        )
        for row in data_rows("catalogue.jsonl")
    ]


def data_rows(name: str) -> list[dict[str, Any]]:
    """Read a JSON lines file next to this module; objects in file order."""
    text = files(__package__ or "").joinpath(name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]
