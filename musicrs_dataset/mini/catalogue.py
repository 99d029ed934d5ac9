"""The invented music of the mini dataset: what each style sounds like, and who plays it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ..records import Entities
from .files import rows
from .sound import Sound


@dataclass(frozen=True)
class Style:
    """A kind of music within one subreddit.

    Attributes:
        subreddit: Where it is talked about.
        name: What it is called, unique within the subreddit.
        sound: What its recordings have in common.
        entities: Invented songs, artists and albums; many of their names hint at the sound.
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
        """Sort `names` into songs, artists and albums; a name that the style lacks is left out."""
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
        for row in rows("catalogue.jsonl")
    ]
