"""A corpus of turns with its catalogue: labels, known items and columns, read from a dataset folder."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ..base.files import to_json
from ..errors import UserError, show
from ..runs.references import dataset_folder, read_folder
from .items import CATALOGUE, Catalogue, read_catalogue

CONFIG = "query_only"
LISTS = ("ground_truth", "known", "links")
TEXTS = ("thread_id", "dialogue", "turn", "query")


@dataclass(frozen=True)
class Corpus:
    """The turns of a corpus whose systems rank a catalogue, one entry per turn, in dataset order.

    Attributes:
        name: Name of the dataset, as the user gave it.
        thread_ids: Keys of the turns, unique.
        dialogues: The dialogue of each turn.
        queries: The text that a system gets.
        ground_truth: Relevant ids, before the known ones are removed.
        known: Ids that the listener knows by then.
        columns: Column name to one label per turn, for `--by`; `turn` is one of them.
        catalogue: The items.
    """

    name: str
    thread_ids: Sequence[str]
    dialogues: Sequence[str]
    queries: Sequence[str]
    ground_truth: Sequence[Sequence[str]]
    known: Sequence[Sequence[str]]
    columns: dict[str, list[str]]
    catalogue: Catalogue

    def __len__(self) -> int:
        return len(self.thread_ids)

    @cached_property
    def position(self) -> dict[str, int]:
        """Thread id to position in the dataset."""
        return {thread_id: i for i, thread_id in enumerate(self.thread_ids)}

    @cached_property
    def fingerprint(self) -> str:
        """sha256 in hexadecimal over the catalogue and the labels, known ids and dialogue of each turn."""
        digest = hashlib.sha256(self.catalogue.fingerprint.encode() + b"\n")
        for row in zip(self.thread_ids, self.dialogues, self.ground_truth, self.known, strict=True):
            names = ("thread_id", "dialogue", "ground_truth", "known")
            digest.update(to_json(dict(zip(names, row, strict=True))).encode() + b"\n")
        return digest.hexdigest()

    @property
    def config(self) -> str:
        """The configuration, the same for every corpus with a catalogue."""
        return CONFIG


def has_catalogue(dataset: str | Path) -> bool:
    """Return whether a dataset is a folder whose systems rank a catalogue."""
    folder = dataset_folder(dataset)
    return folder is not None and (folder / CATALOGUE).is_file()


def load_corpus(dataset: str | Path) -> Corpus:
    """Read a corpus with a catalogue.

    Args:
        dataset: The directory given to `musicrs_dataset build --out`, or the folder in it.

    Raises:
        UserError: There is no such folder, or a file in it cannot be read or is not that of a build.
    """
    folder = dataset_folder(dataset)
    if folder is None or not (folder / CATALOGUE).is_file():
        raise UserError(f"{dataset}: found no {CATALOGUE}; expected the folder of a corpus with a catalogue")
    rows = read_folder(folder, CONFIG)
    _check(rows, str(folder / CONFIG))
    texts = {name: values for name, values in rows.items() if name not in LISTS}
    columns = {name: values for name, values in texts.items() if name not in ("thread_id", "query")}
    return Corpus(
        name=str(dataset),
        thread_ids=rows["thread_id"],
        dialogues=rows["dialogue"],
        queries=rows["query"],
        ground_truth=rows["ground_truth"],
        known=rows["known"],
        columns=columns,
        catalogue=read_catalogue(folder / CATALOGUE),
    )


def _check(rows: dict[str, list[Any]], place: str) -> None:
    missing = [name for name in (*TEXTS, *LISTS) if name not in rows]
    if missing:
        raise UserError(f"{place}: no column {missing[0]!r}; rebuild the dataset")
    for name, values in rows.items():
        kind = list if name in LISTS else str
        wrong = next((value for value in values if not isinstance(value, kind)), None)
        if wrong is not None or None in values:
            raise UserError(f"{place}: column {name!r} holds {show(wrong)}; rebuild the dataset")
    if not rows["thread_id"]:
        raise UserError(f"{place}: holds no turn; rebuild the dataset")
    if len(set(rows["thread_id"])) < len(rows["thread_id"]):
        raise UserError(f"{place}: a thread appears twice; rebuild the dataset")
