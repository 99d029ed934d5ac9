"""Writers of `convert`: the files of each kind, in a folder or on standard output."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Literal

from ..base.files import replacing_derived, write_text
from ..errors import UserError, some
from ..runs.prediction_line import format_line
from ..runs.predictions import PREDICTIONS
from ..runs.references import References
from ..runs.run_card import REQUIRED, RUN_CARD, RunCard, card_command, card_from_values, write_run_card
from . import csv_file, json_file, trec
from .rankings import Rankings

Target = Literal["run", "trec", "csv", "parquet", "json", "eee"]
STDOUT = "-"
CSV, PARQUET, JSON = "rankings.csv", "rankings.parquet", "rankings.json"


def write(rankings: Rankings, references: References, target: Target, out: str) -> Iterator[str]:
    """Write rankings, and yield one line per file, then the sentences that the user must see.

    Args:
        rankings: Rankings of titles.
        references: The dataset.
        target: Kind of file to write.
        out: Folder, or "-" for standard output.

    Yields:
        Lines for the user.

    Raises:
        UserError: The kind needs several files and `out` is "-", or facts of the run card are missing.
    """
    folder = None if out == STDOUT else Path(out)
    if folder is not None and folder.exists() and not folder.is_dir():
        raise UserError(f"{folder}: is a file, expected a folder for the files to write")
    if target == "eee":
        from . import eee

        if folder is None:
            raise UserError("--out is -, but --to eee writes two files whose paths matter; expected a folder")
        yield from eee.write(rankings, references, folder)
    elif target == "parquet":
        yield from _write_parquet(rankings, folder)
    else:
        yield from _write_text(rankings, references, target, folder)


def card_of_facts(rankings: Rankings, references: References) -> RunCard | None:
    """Return the run card, if the facts of a file suffice for it.

    Args:
        rankings: Rankings with their facts.
        references: The dataset.
    """
    known = {field.name for field in fields(RunCard)}
    values = {"dataset": references.name, "config": references.config} | rankings.facts
    values["fingerprint"] = references.fingerprint
    extra = values.pop("extra", None) or {}
    if any(name not in values for name in REQUIRED):
        return None
    return card_from_values({name: value for name, value in values.items() if name in known} | extra)


def _write_text(rankings: Rankings, references: References, target: Target, folder: Path | None) -> Iterator[str]:
    predictions = rankings.predictions
    if target == "trec":
        tables = trec.trec_tables(predictions, references)
        files = {
            trec.RUN: trec.run_lines(tables, str(rankings.facts.get("name", "musicrs"))),
            trec.QRELS: trec.qrels_lines(tables),
            trec.IDS: trec.id_lines(tables),
        }
        notes = list(tables.notes)
        if folder is None:
            notes.append(f"Standard output has {trec.RUN} alone; --out FOLDER also writes {trec.QRELS} and {trec.IDS}.")
    elif target == "csv":
        files, notes = {CSV: csv_file.lines(predictions)}, []
    elif target == "json":
        files, notes = {JSON: json_file.lines(predictions)}, list(json_file.losses(predictions))
    else:
        files, notes = {PREDICTIONS: map(format_line, predictions)}, []
    if folder is None:
        for chunk in next(iter(files.values())):
            sys.stdout.buffer.write(chunk.encode())
        sys.stdout.buffer.flush()
    else:
        if target == "run":
            _check_free(folder)
        for name, lines in files.items():
            write_text(folder / name, lines)
            yield str(folder / name)
    if target == "run":
        notes += _write_card(rankings, references, folder)
    yield from notes


def _write_parquet(rankings: Rankings, folder: Path | None) -> Iterator[str]:
    import pyarrow.parquet as parquet

    from .parquet_file import table_of

    table = table_of(rankings.predictions)
    if folder is None:
        parquet.write_table(table, sys.stdout.buffer)
        return
    folder.mkdir(parents=True, exist_ok=True)
    with replacing_derived(folder / PARQUET) as file:
        parquet.write_table(table, file)
    (folder / PARQUET).chmod(0o644)
    yield str(folder / PARQUET)


def _check_free(folder: Path) -> None:
    """Refuse a folder that holds a run. A run is expensive, and its card would describe other predictions."""
    taken = [name for name in (PREDICTIONS, RUN_CARD, "parts") if (folder / name).exists()]
    if taken:
        raise UserError(f"{folder}: holds a run already ({some(taken)}); expected another folder")


def _write_card(rankings: Rankings, references: References, folder: Path | None) -> Iterator[str]:
    if folder is None:
        return
    card = card_of_facts(rankings, references)
    if card is not None:
        write_run_card(folder / RUN_CARD, card)
        yield str(folder / RUN_CARD)
        return
    known = {name: rankings.facts.get(name) for name in ("name", "modality", "paradigm", "reads", "model_id")}
    command = card_command(folder, known | {"dataset": references.name, "config": references.config})
    yield f"`score` works now. For `report`, `submit` and the rank groups of `compare`, write the run card: {command}"
