"""No cell of a CSV file is computed by a spreadsheet, and every text comes back as it was."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from musicrs_metric.base.text import csv_line, guarded, unguarded

SIGNS = "=+-@|%\uff1d\uff0b\uff0d\uff20"
BLANKS = " \t\r\n\v\f\u00a0\u2003\u3000\u200b\ufeff\x00\x1f"
# Texts that are rich in what matters, and any text.
TEXTS = st.text(st.sampled_from(f"{SIGNS}{BLANKS}';,\"aé1")) | st.text()


def begins_a_formula(cell: str) -> bool:
    """Whether a spreadsheet may compute a cell: the rule of OWASP, with blanks in front dropped."""
    return cell.startswith(("\t", "\r", "\n")) or cell.lstrip(BLANKS).startswith(tuple(SIGNS))


@given(TEXTS)
@example("'=1+1")
@example("a;=1+1")
@example("a;'=1+1;''\u3000\uff1d2")
@example("\r\n =HYPERLINK()")
def test_guard(cell: str) -> None:
    """A guarded cell begins no formula, also where a semicolon starts a cell, and is read back unchanged."""
    safe = guarded(cell)
    assert not begins_a_formula(safe)
    assert not any(part.lstrip(BLANKS).startswith(tuple(SIGNS)) for part in safe.split(";"))
    assert unguarded(safe) == cell


@pytest.mark.parametrize("cell", ["", "Amber Road", "AC/DC", "'74-'75", "1 - 2", "a = b", "don't; stop", "Ænima"])
def test_usual_titles_stay(cell: str) -> None:
    """Only what could be computed is changed."""
    assert guarded(cell) == unguarded(cell) == cell


@given(st.lists(TEXTS, min_size=1, max_size=3))
@example(["a\r=1+1", "\r", "b\r\nc"])
def test_through_a_file(cells: list[str]) -> None:
    """No cell of a file begins a formula, one line holds them all, and they come back as they were."""
    for end in ("\n", "\r\n"):
        [row] = csv.reader(io.StringIO(csv_line(cells, end), newline=""))
        assert not any(map(begins_a_formula, row))
        assert [unguarded(cell) for cell in row] == cells


def test_numbers_stay_numbers() -> None:
    """A negative number is no formula."""
    assert csv_line([-1.5, None, True, "-1.5"]) == "-1.5,,True,'-1.5\n"
