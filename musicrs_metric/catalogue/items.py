"""The catalogue of a corpus: every item that a system may rank, with the cluster that it belongs to.

Items of one cluster are one piece of music, such as two uploads of a song. A ranking names ids. Titles are for people
and prompts, because one title can name several clusters.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ..base.files import strict_json, to_json
from ..errors import UserError, is_unicode, show, some

_TEXTS = ("title", "album", "cluster", "link")


@dataclass(frozen=True, slots=True)
class Item:
    """One entry of a catalogue.

    Attributes:
        id: Key of the item in rankings, ground truth and known items.
        title: Title.
        artists: Names of the artists.
        album: Title of the album or release.
        cluster: Name of the cluster; "" for a cluster of its own.
        link: URL or video id; "" for none.
    """

    id: str
    title: str = ""
    artists: tuple[str, ...] = ()
    album: str = ""
    cluster: str = ""
    link: str = ""

    @property
    def text(self) -> str:
        """Title, artists and album, separated by blanks."""
        return " ".join([self.title, *self.artists, self.album])


@dataclass(frozen=True)
class Catalogue:
    """All items of a corpus, with distinct ids.

    Attributes:
        items: The items, in file order.
    """

    items: tuple[Item, ...]

    def __len__(self) -> int:
        return len(self.items)

    @cached_property
    def codes(self) -> dict[str, int]:
        """Id to the number of its cluster, 0 to `n_clusters` - 1."""
        # An item without a cluster must not fall into a cluster whose name is its id.
        numbers: dict[tuple[bool, str], int] = {}
        keys = ((item.id, (bool(item.cluster), item.cluster or item.id)) for item in self.items)
        return {name: numbers.setdefault(key, len(numbers)) for name, key in keys}

    @cached_property
    def n_clusters(self) -> int:
        """Number of distinct clusters."""
        return len(set(self.codes.values()))

    @cached_property
    def titles(self) -> frozenset[str]:
        """All titles."""
        return frozenset(item.title for item in self.items if item.title)

    @cached_property
    def fingerprint(self) -> str:
        """sha256 in hexadecimal over all fields of all items, sorted by id, so that the order of the file is free."""
        digest = hashlib.sha256()
        for item in sorted(self.items, key=lambda item: item.id):
            digest.update(to_json(asdict(item)).encode() + b"\n")
        return digest.hexdigest()


def catalogue_lines(items: Iterable[Item]) -> Iterator[str]:
    """Write items as lines of a catalogue file. Empty fields are omitted."""
    for item in items:
        yield to_json({name: value for name, value in asdict(item).items() if value or name == "id"}) + "\n"


def read_catalogue(path: str | Path) -> Catalogue:
    """Read a catalogue file: one JSON object per line with `id`, and optionally the other fields of `Item`.

    Args:
        path: The file, UTF-8. `artists` is a list of texts, or one text. Other keys are ignored.

    Returns:
        The catalogue.

    Raises:
        UserError: The file cannot be read, holds no item, or a line is no such object or repeats an id.
    """
    items: dict[str, Item] = {}
    try:
        with open(path, encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    item = _item(line, f"{path}, line {number}")
                    if item.id in items:
                        raise UserError(f"{path}, line {number}: id {show(item.id)} appears twice, expected once")
                    items[item.id] = item
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 text ({error.reason} at byte {error.start})") from error
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); expected a catalogue file") from error
    if not items:
        raise UserError(f'{path}: holds no item; expected one object per line, {{"id": "...", "title": "..."}}')
    return Catalogue(tuple(items.values()))


def _item(line: str, where: str) -> Item:
    try:
        values = strict_json(line)
    except ValueError as error:
        raise UserError(f"{where}: not JSON ({error})") from error
    if not isinstance(values, dict):
        raise UserError(f"{where}: found {show(values)}, expected an object with the key id")
    return item_of(values, where)


def item_of(values: dict[str, Any], where: str) -> Item:
    """Make an item from the fields of a JSON object.

    Raises:
        UserError: There is no id, or a field has another type.
    """
    if "id" not in values:
        raise UserError(f"{where}: no field 'id'; found {some(list(values)) or 'none'}")
    if not _is_id(values["id"]):
        raise UserError(f"{where}: id is {show(values['id'])}, expected a text that is not blank")
    texts = {name: "" if values.get(name) is None else values[name] for name in _TEXTS}
    for name, value in texts.items():
        if not (isinstance(value, str) and is_unicode(value)):
            raise UserError(f"{where}: {name} is {show(value)}, expected a text")
    artists = values.get("artists") or []
    artists = [artists] if isinstance(artists, str) else artists
    if not (isinstance(artists, list) and all(isinstance(name, str) and is_unicode(name) for name in artists)):
        raise UserError(f"{where}: artists is {show(values['artists'])}, expected a list of texts")
    return Item(values["id"], artists=tuple(artists), **texts)


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and is_unicode(value)


def distinct_items(items: Sequence[Item]) -> Catalogue:
    """Make a catalogue from items, of which equal ones may repeat; the first of an id counts."""
    return Catalogue(tuple({item.id: item for item in reversed(items)}.values())[::-1])
