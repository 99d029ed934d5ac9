"""Sending to the leaderboard on its page: what is sound gets a rank, what is not gets its reasons, and nothing runs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from musicrs_metric.errors import UserError
from musicrs_metric.runs.predictions import format_line
from musicrs_metric.runs.references import References, load_references
from space.store.files import read_submission, to_bytes
from space.submission import Submission

from ..space.views_toy import mini_dataset, predictions, submission
from .conftest import Server
from .space_pages import Visitor, opened, serve_board

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# What each file must be told, whatever the rest of the sentence is.
MESSAGES = {
    "s01/bomb_64MB_of_newlines.jsonl.gz": r"expected (at most|one per thread)",
    "s01/traversal.zip": r"evil\.jsonl|folder|path|not in dataset",
    "s01/truncated.jsonl.gz": r"incomplete",
    "s01/two_files.zip": r"(?s)a\.jsonl.*b\.jsonl|2 files|two files",
    "s02/blank_lines_only.jsonl": r"no prediction",
    "s02/empty.jsonl": r"empty",
    "s02/not_json_line2.jsonl": r"line 2.*not JSON",
    "s02/one_bad_line.jsonl": r"line 2.*ranking",
    "s02/one_json_array.json": r"JSON array",
    "s02/ranking_is_string.jsonl": r"line 1.*ranking.*expected a list",
    # Read like any other file, and judged by its threads, which this board does not have.
    "s02/wrong_key.jsonl": r"line 1.*not in dataset",
    "s01/good.jsonl.gz": r"line 1.*not in dataset",
    "s01/gz_named_jsonl.jsonl": r"line 1.*not in dataset",
    "s01/macos.zip": r"line 1.*not in dataset",
}
RADIOS = {"modality": "Query only", "paradigm": "Retrieval", "reads": "Own thread only"}
HARMFUL = ['<img src=x onerror="window.pwned=1">', "${window.pwned=1}{{7*7}}", "<svg/onload=alert(1)>", "$x^2$ & co"]


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Directory of the mini dataset."""
    return mini_dataset(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def names(request: pytest.FixtureRequest) -> list[str]:
    """Names that mean harm, with those that attacked other boards where they are at hand."""
    with suppress(pytest.skip.Exception):
        cases: Path = request.getfixturevalue("cases")
        return [*json.loads((cases / "s04_names.json").read_text(encoding="utf-8")), *HARMFUL]
    return HARMFUL


@pytest.fixture(scope="module")
def board(
    tmp_path_factory: pytest.TempPathFactory, chromium: Path, dataset: Path, names: list[str]
) -> Iterator[Server]:
    """A board whose rows have those names, as far as a store keeps them."""

    def sent(references: References) -> Iterable[Submission]:
        for number, name in enumerate(names):
            made = submission(references, number, name=name, strength=number / 8)
            with suppress(UserError, ValueError):
                read_submission(to_bytes(made), f"{made.key}.jsonl")
                yield made

    yield from serve_board(dataset, tmp_path_factory.mktemp("board"), sent)


@pytest.fixture
def visitor(browser: Browser, board: Server) -> Iterator[Visitor]:
    """Somebody at a desk."""
    with opened(browser, board.url) as made:
        yield made


def fill_in(visitor: Visitor, name: str) -> None:
    """Say what a system is."""
    page = visitor.go("?tab=submit")
    page.wait_for_selector("#name textarea, #name input")
    page.fill("#name textarea, #name input", name)
    for field, choice in RADIOS.items():
        page.click(f"#{field} label:has-text('{choice}')")


def attach(visitor: Visitor, file: Path) -> None:
    """Put a prediction file into the form, in the place of the one before."""
    page = visitor.page
    if page.locator("#predictions [aria-label=Clear]").count():
        page.click("#predictions [aria-label=Clear]")
    page.wait_for_selector("#predictions input[type=file]", state="attached")
    page.set_input_files("#predictions input[type=file]", file)
    page.wait_for_selector("#predictions .file-preview")


def send(visitor: Visitor, button: str = "#send") -> str:
    """Press a button and read what the page says to it."""
    page = visitor.page
    judged = "() => document.querySelector('.result')?.dataset.judged ?? ''"
    before = page.evaluate(judged)
    page.click(button)
    page.wait_for_function(f"before => ({judged})() > before", arg=before)
    text: str = page.inner_text(".result")
    return text


def test_a_sound_file_gets_its_rank(visitor: Visitor, dataset: Path, tmp_path: Path) -> None:
    """Scored without being kept, then sent, then on the board with rank and link; the same again is there already."""
    references = load_references(dataset, "audio_query")
    file = tmp_path / "predictions.jsonl"
    file.write_text("".join(map(format_line, predictions(references, 8.0, seed=5))), encoding="utf-8")
    fill_in(visitor, "Freshly sent")
    assert "Choose the prediction file first".lower() in send(visitor).lower()
    attach(visitor, file)
    assert "was not stored" in send(visitor, "#score")
    told = send(visitor)
    assert "Stored" in told
    assert "rank 1" in told
    visitor.page.fill("#link textarea, #link input", "http://insecure.example")
    assert "link" in send(visitor)
    visitor.page.fill("#link textarea, #link input", "")
    assert "already" in send(visitor)
    visitor.click(".result >> text=Show the row")
    assert visitor.page.inner_text("#details h2") == "Freshly sent"
    visitor.go("?reads=thread")
    assert visitor.names()[0] == "Freshly sent"


def test_every_bad_file_is_told_why(visitor: Visitor, cases: Path) -> None:
    """Each fault stands with file and line; the board has as many rows as before, and still renders."""
    visitor.go("")
    before = visitor.names()
    fill_in(visitor, "Never stored")
    for name, message in MESSAGES.items():
        attach(visitor, cases / name)
        told = send(visitor)
        assert "Refused" in told, name
        assert re.search(message, told.replace("\t", " ")), f"{name}: {told}"
        assert "Traceback" not in told
    visitor.go("")
    assert visitor.names() == before


def test_names_that_mean_harm_are_text_everywhere(visitor: Visitor, names: list[str]) -> None:
    """On every tab they can be read, and nothing runs, nothing is fetched, no element comes of them."""
    page = visitor.go("?reported=no")
    shown = {" ".join(name.split()) for name in page.locator(".board .name").all_text_contents()}
    assert len(shown) > len(names) / 2
    for name in HARMFUL:
        assert name in shown
    key = page.locator(".board a.name").evaluate_all(
        "(all, name) => all.find(one => one.textContent === name).dataset.row", HARMFUL[0]
    )
    visitor.go(f"?row={key}")
    assert page.inner_text("#details h2") == HARMFUL[0]
    keys = page.locator(".board a.name").evaluate_all("all => all.map(one => one.dataset.row)")
    for address in (f"?compare={key},{keys[0]}", "?tab=genres", f"?thread=t3_mini01&systems={key},{keys[1]},{keys[2]}"):
        visitor.go(address)
        if "thread" not in address:
            page.wait_for_selector(".js-plotly-plot .points path")
        assert HARMFUL[0] in page.locator("main, .main").first.inner_text()
        assert not page.locator(
            ".sheet img, .sheet svg, .sheet script, .sheet iframe, .js-plotly-plot .main-svg a"
        ).count()
    assert page.evaluate("window.pwned") is None
    assert not page.locator("img[src=x]").count()


def test_a_name_from_the_form_is_text(visitor: Visitor, dataset: Path, tmp_path: Path) -> None:
    """A name that means harm is taken as it is, or refused in words, and shown as text either way."""
    file = tmp_path / "predictions.jsonl"
    references = load_references(dataset, "audio_query")
    file.write_text("".join(map(format_line, predictions(references, 0.0, seed=6))), encoding="utf-8")
    fill_in(visitor, HARMFUL[0])
    attach(visitor, file)
    told = send(visitor)
    assert HARMFUL[0] in told
    visitor.page.fill("#name textarea, #name input", "  ")
    assert "name" in send(visitor)
    assert visitor.page.evaluate("window.pwned") is None
    assert not visitor.page.locator("img[src=x]").count()
