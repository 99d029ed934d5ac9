"""Declarations on the page: a run card fills the form, a receipt changes and withdraws a row, and readers choose."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from musicrs_metric.runs.predictions import format_line
from musicrs_metric.runs.references import References, load_references
from space.store.local import LocalStore
from space.submission import Submission

from ..space.views_toy import mini_dataset, predictions, submission
from .conftest import Server
from .space_pages import Visitor, opened, serve_board

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data and results of the board."""
    folder = tmp_path_factory.mktemp("board")
    mini_dataset(folder / "data")
    return folder


@pytest.fixture(scope="module")
def board(folder: Path, chromium: Path) -> Iterator[Server]:
    """Nine systems, of which two are reproduced and one has a size."""

    def sent(references: References) -> Iterable[Submission]:
        store = LocalStore(folder / "submissions")
        for number in range(9):
            made = submission(references, number)
            extra = {"parameters": 7_000_000_000} if number == 2 else {}
            made = replace(made, card=replace(made.card, extra=extra))
            if number in (2, 5):
                store.notes.change(made.key, reproduced_at="2026-11-30T12:00:00+00:00")
            yield made

    yield from serve_board(folder / "data", folder, sent)


@pytest.fixture
def visitor(browser: Browser, board: Server) -> Iterator[Visitor]:
    """A person at a desk."""
    with opened(browser, board.url) as made:
        yield made


def test_the_best_reproduced_system_for_audio_takes_two_choices(visitor: Visitor) -> None:
    """The URL keeps both, and the rows state their status."""
    page = visitor.go("")
    visitor.choose("modality", "audio_only")
    visitor.choose("status", "reproduced")
    assert len(visitor.names()) == 2
    assert page.locator(".badge.reproduced").count() == 2
    shown = visitor.names()
    visitor.go("?modality=audio_only&status=reproduced")
    assert visitor.names() == shown
    page.locator("select[name=status]:visible").select_option("all")
    page.wait_for_function("!location.search.includes('status')")
    visitor.settled()
    assert len(visitor.names()) == 3


def test_columns_are_chosen_in_a_menu(visitor: Visitor) -> None:
    """A value that is not stated is unknown; the URL keeps the columns; unchecking removes them."""
    page = visitor.go("")
    page.click(".menu summary")
    page.check(".menu input[value=parameters]")
    visitor.settled("columns=parameters")
    page.check(".menu input[value=licence]")
    visitor.settled("columns=parameters,licence")
    cells = page.locator("td[data-label=Parameters]").all_inner_texts()
    assert (cells.count("7B"), cells.count("unknown")) == (1, 8)
    for name in ("parameters", "licence"):
        page.uncheck(f".menu input[value={name}]")
        page.wait_for_function(f"!location.search.includes('{name}')")
    visitor.settled()
    assert page.locator("td.fact").count() == 0


def test_plots_against_size_and_date(visitor: Visitor) -> None:
    """The plot states how many systems it shows; every system has a date."""
    page = visitor.go("?tab=trends")
    page.wait_for_selector("#plot-trends .js-plotly-plot .point")
    assert "shows 1 of 9 systems" in page.inner_text("#tab-trends")
    visitor.choose("axis", "date")
    page.wait_for_function("document.querySelectorAll('#plot-trends .point').length === 9")


def test_from_the_card_to_the_withdrawal(visitor: Visitor, folder: Path, tmp_path: Path) -> None:
    """A card fills the form, typed text wins, the receipt opens the row, and its URL ends with the withdrawal."""
    references = load_references(folder / "data", "audio_query")
    lines = map(format_line, predictions(references, 0.5, 99))
    (tmp_path / "predictions.jsonl").write_text("".join(lines), encoding="utf-8")
    card = {
        "name": "From the card", "modality": "query_only", "paradigm": "retrieval", "reads": "thread", "licence": "mit",
        "parameters": 2_000_000, "trained": False, "wall_time_s": 90,
    }  # fmt: skip
    (tmp_path / "run.json").write_text(json.dumps(card), encoding="utf-8")
    page = visitor.go("?tab=submit")
    page.wait_for_selector("#name textarea, #name input")
    page.fill("#name textarea, #name input", "Typed")
    page.set_input_files("#card input[type=file]", tmp_path / "run.json")
    page.wait_for_selector("#modality label:has-text('Query only') input:checked")
    assert page.input_value("#name textarea, #name input") == "Typed"
    assert "yours counts" in page.inner_text("#tab-submit .warn")
    page.set_input_files("#predictions input[type=file]", tmp_path / "predictions.jsonl")
    page.wait_for_selector("#predictions .file-preview")
    page.click("#send")
    page.wait_for_selector(".result.fine")
    result = page.inner_text(".result")
    assert "Typed" in result
    assert "chance is" in result
    receipt = page.inner_text(".receipt code")
    store = LocalStore(folder / "submissions")
    (entry,) = [entry for entry in store.entries() if entry.card.name == "Typed"]
    assert (entry.card.licence, entry.card.extra["parameters"], entry.card.wall_time_s) == ("mit", 2_000_000, 90)

    page.click("#change >> text=Change or withdraw a row")
    page.fill("#change-key input, #change-key textarea", entry.key)
    page.fill("#change-receipt input", "wrong")
    page.click("#change-open")
    page.wait_for_selector("#change .result.failed")
    page.fill("#change-receipt input", receipt)
    page.click("#change-open")
    page.wait_for_selector("#change-name:visible")
    assert page.input_value("#change-name input, #change-name textarea") == "Typed"
    page.fill("#change-name input, #change-name textarea", "Renamed")
    page.click("#change-save")
    page.wait_for_selector("#change .result.fine")
    assert "Renamed" in visitor.go(f"?row={entry.key}").inner_text("#details h2")
    page.goto(f"{visitor.url}?tab=submit")
    visitor.settled()
    page.click("#change >> text=Change or withdraw a row")
    page.fill("#change-key input, #change-key textarea", entry.key)
    page.fill("#change-receipt input", receipt)
    page.click("#change-open")
    page.wait_for_selector("#change-withdraw:visible")
    page.click("#change-withdraw")
    page.wait_for_selector("#change .result.fine")
    page = visitor.go(f"?row={entry.key}")
    assert "it was withdrawn" in page.inner_text("#frame .warn")
