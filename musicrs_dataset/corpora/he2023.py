"""Reader of INSPIRED, ReDial and Reddit-Movie as He et al. (2023) prepared them. They are about films.

A folder holds rows (`test.jsonl` or another `.jsonl` file), `entity2id.json` (name to number) and `item_ids.json`
(numbers of the films). They test the scorer, and no score on them is about music.
Source: github.com/AaronHeee/LLMs-as-Zero-Shot-Conversational-RecSys, without a licence; research use only.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from musicrs_metric.catalogue.items import Catalogue, Item
from musicrs_metric.errors import UserError, count, show, some

from ..jsonl import Fields, read_objects
from ..sources import About
from .files import read_json, sha256_of
from .record import CatalogueSource, Turn


def read_inspired(path: Path) -> CatalogueSource:
    """Read INSPIRED; see `read_films`."""
    return read_films(path, "inspired", "INSPIRED")


def read_redial(path: Path) -> CatalogueSource:
    """Read ReDial; see `read_films`."""
    return read_films(path, "redial", "ReDial")


def read_reddit_movie(path: Path) -> CatalogueSource:
    """Read Reddit-Movie; see `read_films`."""
    return read_films(path, "reddit_movie", "Reddit-Movie")


def read_films(path: Path, name: str, title: str) -> CatalogueSource:
    """Read rows of dialogues about films.

    Rows without a recommendation are skipped and counted. Known are the films that the dialogue named before.

    Args:
        path: The file of rows, or the folder that holds it as its only `.jsonl` file or as `test.jsonl`.
        name: Name of the folder to build.
        title: Title of the corpus.

    Raises:
        UserError: A file is not as published; the message names file, line and field.
    """
    file = _rows_file(path)
    names = _names(file.with_name("entity2id.json"))
    films = _films(file.with_name("item_ids.json"))
    unnamed = [film for film in films if film not in names]
    if unnamed:
        raise UserError(f"{file.with_name('item_ids.json')}: films {some([str(i) for i in unnamed])} have no name")
    catalogue = Catalogue(tuple(Item(str(film), title=names[film]) for film in films))
    turns, skipped = [], 0
    for fields in read_objects(file):
        relevant = [str(number) for number in _numbers(fields, "rec")]
        if not relevant:
            skipped += 1
            continue
        dialogue, turn = fields.string("dialog_id"), fields.string("turn_id")
        known = tuple(str(number) for number in _numbers(fields, "prev_entity") if str(number) in catalogue.codes)
        turns.append(
            Turn(f"{dialogue}:{turn}", dialogue, turn, fields.string("input"), tuple(dict.fromkeys(relevant)), known)
        )
    n = count(len(turns), "turn")
    notes = (
        f"{count(len({turn.dialogue for turn in turns}), 'dialogue')}, {n}, {count(len(catalogue), 'film')}",
        f"{count(skipped, 'row')} without a recommendation skipped",
    )
    about = About(
        name=f"{name}:{file.name}",
        title=f"{title} (films)",
        loads_as=name,
        license="other",
        license_name="not-stated",
        attribution=(
            f"{title} as prepared in [AaronHeee/LLMs-as-Zero-Shot-Conversational-RecSys]"
            "(https://github.com/AaronHeee/LLMs-as-Zero-Shot-Conversational-RecSys), which states no licence. For "
            "research only. Read from your copy. Do not share this folder."
        ),
        homepage="https://github.com/AaronHeee/LLMs-as-Zero-Shot-Conversational-RecSys",
        sha256=sha256_of([file]),
        notes=notes,
        limits=("The items are films. The corpus tests the scorer, and no score on it is about music.",),
    )
    return CatalogueSource(turns, catalogue, about)


def _rows_file(path: Path) -> Path:
    if path.is_file():
        return path
    files = sorted(path.glob("*.jsonl")) if path.is_dir() else []
    test = [file for file in files if file.name == "test.jsonl"]
    if len(test or files) != 1:
        raise UserError(f"{path}: holds {count(len(files), '.jsonl file')}; expected test.jsonl, or name one file")
    return (test or files)[0]


def _names(path: Path) -> dict[int, str]:
    values = read_json(path, "entity2id.json, an object of names with their numbers")
    if not isinstance(values, dict) or not all(isinstance(number, int) for number in values.values()):
        raise UserError(f"{path}: found {show(values)}, expected an object of names with their numbers")
    return {number: name for name, number in values.items()}


def _films(path: Path) -> list[int]:
    values = read_json(path, "item_ids.json, a list of numbers")
    if not isinstance(values, list) or not all(isinstance(number, int) for number in values):
        raise UserError(f"{path}: found {show(values)}, expected a list of numbers")
    return list(dict.fromkeys(values))


def _numbers(fields: Fields, name: str) -> list[int]:
    value: Any = fields.values.get(name, ())
    if name not in fields.values or not isinstance(value, list) or not all(isinstance(n, int) for n in value):
        raise UserError(f"{fields.where}: {name} is {show(value)}, expected a list of numbers")
    return value
