"""Names that attack: from the form to the store, the board and its exports they are text, or refused."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from space.board.board import Board
from space.board.data import LeaderboardData
from space.board.export import ExportFormat, export
from space.board.table_rows import table_rows
from space.intake import IntakeError, take
from space.settings import LeaderboardSettings, Limits
from space.store import SubmissionStore
from space.store.local import LocalStore

from .toy import FORM, jsonl
from .toy import lines as rows

LIMITS = Limits()


@pytest.fixture
def names(cases: Path) -> list[str]:
    """Twenty names from public reports: paths, markup, formulas, blanks, turned text."""
    found: list[str] = json.loads((cases / "s04_names.json").read_text(encoding="utf-8"))
    assert len(found) == 20
    return found


@pytest.fixture
def kept(names: list[str], data: LeaderboardData, store: LocalStore) -> list[str]:
    """Those that were taken, in order; all were sent with the same predictions."""
    kept: list[str] = []
    fields: set[str | None] = set()
    for name in names:
        try:
            taken = take(jsonl(rows()), replace(FORM, name=name), data, LIMITS)
        except IntakeError as error:
            fields |= {fault.field for fault in error.faults}
            continue
        store.put(taken.submission)
        kept.append(name)
    assert fields == {"name"}
    return kept


def test_refused_are_those_that_cannot_be_shown(kept: list[str], names: list[str]) -> None:
    """Empty, blank, endless, with a NUL, or written to be read backwards."""
    assert [name[:9] for name in names if name not in kept] == ["name\0null", "x" * 9, "", "   ", "\u202egnp.exe"]


def test_all_others_are_text(kept: list[str], board: Board) -> None:
    """Stored as they were given, but for white space; each a row of its own."""
    shown = {row.label for row in board.snapshot().rows}
    assert shown == {" ".join(name.split()) for name in kept}


def test_no_file_is_made_elsewhere(
    kept: list[str], store: LocalStore, settings: LeaderboardSettings, tmp_path: Path
) -> None:
    """Every file lies in the store's folder, under a name made of hexadecimal digits."""
    files = {path for path in tmp_path.rglob("*") if path.is_file()}
    assert {path.parent for path in files} == {store.folder}
    assert len(files) == len(kept) + 1  # and the lock


@pytest.mark.parametrize("form", get_args(ExportFormat))
def test_exports(form: ExportFormat, kept: list[str], board: Board) -> None:
    """One line per row whatever is in a name, and no formula."""
    found = table_rows(board)
    text = export(found, form)
    if form == "csv":
        head, *cells = csv.reader(io.StringIO(text))
        assert len(cells) == len(kept) + 1
        assert not any(row[head.index("name")].startswith(("=", "+", "-", "@")) for row in cells)
    elif form == "markdown":
        assert sum(line.startswith("|") for line in text.splitlines()) == len(kept) + 3
        assert "<script" not in text
        assert r"\[click\](javascript" in text
    else:
        assert text.count(r"\\") == len(kept) + 2


def test_the_store_is_what_it_was(kept: list[str], store: SubmissionStore) -> None:
    """Nothing was set aside."""
    assert len(store.entries()) == len(kept)
    assert not store.set_aside()
