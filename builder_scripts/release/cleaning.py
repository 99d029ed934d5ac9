"""What is done to every text before it is released."""

from __future__ import annotations

from collections.abc import Callable

from musicrs_dataset.personal import redact
from musicrs_dataset.records import Entities

from ..mine.authors import Pseudonyms
from .authors import without_names
from .takedown import Takedown

Clean = Callable[[str], str]


def cleaning(takedown: Takedown, pseudonyms: Pseudonyms, *, redacting: bool) -> Clean:
    """Return the function that texts go through.

    Args:
        takedown: Of this, no trace stays.
        pseudonyms: Stand in place of the accounts that texts mention.
        redacting: Whether placeholders stand in place of other personal data.
    """

    def clean(text: str) -> str:
        # Names first: a pseudonym is nothing that looks like a telephone number.
        text = takedown.redact(without_names(text, pseudonyms))
        return redact(text) if redacting else text

    return clean


def pseudonymising(pseudonyms: Pseudonyms) -> Clean:
    """Return the function that puts pseudonyms in the place of accounts, and changes nothing else."""
    return lambda text: without_names(text, pseudonyms)


def clean_entities(entities: Entities, clean: Clean) -> Entities:
    """Clean the names that a model took from a text."""
    return Entities(*(tuple(map(clean, names)) for names in (entities.songs, entities.artists, entities.albums)))
