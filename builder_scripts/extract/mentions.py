"""Entities that a text mentions, read from the answer of a model. Each item is checked alone and against the text."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from musicrs_metric.matching import normalise

from ..llm import UNREADABLE, RefusedError
from .text_matching import Words, tidy

Kind = Literal["song", "artist", "album"]
KINDS: tuple[Kind, ...] = ("song", "artist", "album")


# The schema is part of the key of an answer. Another description would make every cached answer useless.
_DESCRIPTION = "One item of an answer.\n\nAttributes:\n    name: As the text writes it.\n    type: What it is."


class Mention(BaseModel):
    """One item of an answer.

    Attributes:
        name: Name as in the text.
        type: Kind of the entity.
    """

    model_config = ConfigDict(
        strict=True, json_schema_extra={"additionalProperties": False, "description": _DESCRIPTION}
    )

    name: str = Field(min_length=1, max_length=200)
    type: Kind


class Mentions(NamedTuple):
    """Entities of a text, and the dropped items of the answer.

    Attributes:
        songs: Song titles, in the order of the answer.
        artists: Artist names.
        albums: Album titles.
        unfounded: Names that the text does not contain.
        n_invalid: Items with a wrong type, a missing field or no name.
        n_repeated: Repeated items.
        n_over: Items beyond the cap.
    """

    songs: tuple[str, ...] = ()
    artists: tuple[str, ...] = ()
    albums: tuple[str, ...] = ()
    unfounded: tuple[str, ...] = ()
    n_invalid: int = 0
    n_repeated: int = 0
    n_over: int = 0


def schema(cap: int) -> dict[str, Any]:
    """Return the JSON schema of an answer with at most `cap` mentions."""
    entities = {"type": "array", "maxItems": cap, "items": Mention.model_json_schema()}
    return {
        "type": "object",
        "properties": {"entities": entities},
        "required": ["entities"],
        "additionalProperties": False,
    }


def is_answer(value: Any) -> bool:
    """Return True for a readable JSON value: the object of the schema, or its list alone."""
    return _items(value) is not None


def read_mentions(value: Any, text: str, cap: int) -> Mentions:
    """Read an answer. Good items are kept, also next to invalid ones.

    Args:
        value: A value for which `is_answer` is true.
        text: The text that must contain the names.
        cap: Largest number of mentions, also if the model ignored the schema.

    Returns:
        The mentions. Each item of the answer is in one of the lists, or counted once.

    Raises:
        RefusedError: All items are invalid.
    """
    items = _items(value) or []
    words = Words(text)
    names: dict[tuple[Kind, str], str] = {}
    unfounded: list[str] = []
    n_invalid = n_repeated = n_over = 0
    for item in items:
        mention = _mention(item)
        if mention is None:
            n_invalid += 1
            continue
        key = mention.type, normalise(mention.name)
        if key in names:
            n_repeated += 1
        elif not words.resemble(mention.name):
            unfounded.append(mention.name)
        elif len(names) == cap:
            n_over += 1
        else:
            names[key] = mention.name
    if items and n_invalid == len(items):
        raise RefusedError(UNREADABLE)
    songs, artists, albums = (tuple(name for (of, _), name in names.items() if of == kind) for kind in KINDS)
    return Mentions(songs, artists, albums, tuple(unfounded), n_invalid, n_repeated, n_over)


def _items(value: Any) -> list[Any] | None:
    if isinstance(value, dict):
        value = value.get("entities")
    elif not (isinstance(value, list) and all(isinstance(item, dict) for item in value)):
        return None
    return value if isinstance(value, list) else None


def _mention(item: Any) -> Mention | None:
    try:
        mention = Mention.model_validate(item)
    except ValidationError:
        return None
    name = tidy(mention.name)
    return mention.model_copy(update={"name": name}) if normalise(name) else None
