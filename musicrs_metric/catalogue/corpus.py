"""A corpus whose systems rank a catalogue: labels, known items and columns, read from a dataset folder."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ..base.files import to_json
from ..errors import UserError, show
from ..runs.references import CATALOGUE, DEFAULT_CONFIG, References, dataset_folder, load_references, read_folder
from .items import Catalogue, read_catalogue

DIALOGUE, TURN = "dialogue", "turn"
LISTS = ("ground_truth", "known", "links")
TEXTS = ("thread_id", DIALOGUE, TURN, "query")


@dataclass(frozen=True)
class Corpus(References):
    """The turns of a corpus with a catalogue, one entry per turn, in dataset order.

    `candidates` is empty for every turn. `ground_truth` holds relevant ids, before the known ones are removed. `groups`
    holds the labels of every text column.

    Attributes:
        queries: The text that a system gets.
        known: Ids that the listener knows by then.
        catalogue: The items.
    """

    queries: Sequence[str]
    known: Sequence[Sequence[str]]
    catalogue: Catalogue

    @cached_property
    def fingerprint(self) -> str:
        """sha256 in hexadecimal over the catalogue and the labels, known ids and dialogue of each turn."""
        digest = hashlib.sha256(self.catalogue.fingerprint.encode() + b"\n")
        for row in zip(self.thread_ids, self.groups[DIALOGUE], self.ground_truth, self.known, strict=True):
            names = ("thread_id", DIALOGUE, "ground_truth", "known")
            digest.update(to_json(dict(zip(names, row, strict=True))).encode() + b"\n")
        return digest.hexdigest()

    def subset(self, thread_ids: Sequence[str]) -> Corpus:
        """Return the turns of some thread ids, in that order."""
        part = super().subset(thread_ids)
        if part is self or not isinstance(part, Corpus):
            return self
        rows = [self.position[thread_id] for thread_id in thread_ids]
        return replace(part, queries=[self.queries[row] for row in rows], known=[self.known[row] for row in rows])


def has_catalogue(dataset: str | Path) -> bool:
    """Return whether a dataset is a folder whose systems rank a catalogue."""
    folder = dataset_folder(dataset)
    return folder is not None and (folder / CATALOGUE).is_file()


def load_labels(dataset: str | Path, config: str = DEFAULT_CONFIG) -> References:
    """Read the labels of a dataset of either protocol: a `Corpus` if its systems rank a catalogue.

    Args:
        dataset: A directory, the installed name "musicrs", or a Hub id.
        config: Configuration.

    Raises:
        UserError: No such dataset or configuration, or a file that cannot be read.
    """
    return load_corpus(dataset) if has_catalogue(dataset) else load_references(dataset, config)


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
    rows = read_folder(folder, DEFAULT_CONFIG)
    _check(rows, str(folder / DEFAULT_CONFIG))
    hidden = {"thread_id", "query", *LISTS}
    return Corpus(
        name=str(dataset),
        config=DEFAULT_CONFIG,
        thread_ids=rows["thread_id"],
        candidates=[()] * len(rows["thread_id"]),
        ground_truth=rows["ground_truth"],
        groups={name: values for name, values in rows.items() if name not in hidden},
        queries=rows["query"],
        known=rows["known"],
        catalogue=read_catalogue(folder / CATALOGUE),
    )


def _check(rows: dict[str, list[Any]], place: str) -> None:
    missing = [name for name in (*TEXTS, *LISTS) if name not in rows]
    if missing:
        raise UserError(f"{place}: no column {missing[0]!r}; rebuild the dataset")
    for name, values in rows.items():
        kind = list if name in LISTS else str
        for thread, value in zip(rows["thread_id"], values, strict=True):
            if not isinstance(value, kind):
                raise UserError(f"{place}: thread {thread}, column {name!r} holds {show(value)}; rebuild the dataset")
    if not rows["thread_id"]:
        raise UserError(f"{place}: holds no turn; rebuild the dataset")
    if len(set(rows["thread_id"])) < len(rows["thread_id"]):
        raise UserError(f"{place}: a thread appears twice; rebuild the dataset")
