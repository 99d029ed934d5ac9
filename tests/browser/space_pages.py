"""A visitor of the leaderboard: opens pages, waits for what the page says it shows, and notes whatever goes wrong."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from musicrs_metric.runs.references import References, load_references
from space.store.local import LocalStore
from space.submission import Submission

from .conftest import Server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

_DESK = {"width": 1280, "height": 900}
_SETTLED = """(part) => document.body.dataset.busy === undefined && document.body.dataset.shown === location.search
    && decodeURIComponent(location.search).includes(part)"""


def serve_board(dataset: Path, results: Path, sent: Callable[[References], Iterable[Submission]]) -> Iterator[Server]:
    """Serve a board that holds some submissions, until the end.

    Args:
        dataset: Directory of a built dataset.
        results: Folder of the board.
        sent: Makes the submissions.
    """
    store = LocalStore(results / "submissions")
    for submission in sent(load_references(dataset, "audio_query")):
        store.put(submission)
    server = Server("-m", "space", "--port", "PORT", "--results", results, "--dataset", dataset)
    # Tests submit more within an hour than one person does.
    os.environ.update({"SUBMISSIONS_PER_HOUR": "0", "CALLS_PER_HOUR": "0"})
    try:
        server.start()
        yield server
    finally:
        server.kill()
        for name in ("SUBMISSIONS_PER_HOUR", "CALLS_PER_HOUR"):
            os.environ.pop(name)


@contextmanager
def opened(browser: Browser, url: str, **options: Any) -> Iterator[Visitor]:
    """A window of its own; in the end nothing may have been fetched from elsewhere, and no script have failed."""
    context = browser.new_context(**{"viewport": _DESK, "accept_downloads": True} | options)
    visitor = Visitor(context.new_page(), url)
    yield visitor
    context.close()
    assert visitor.abroad == []
    assert visitor.errors == []


class Visitor:
    """Somebody with a window.

    Args:
        page: The window.
        url: The board.
    """

    def __init__(self, page: Page, url: str) -> None:
        self.page, self.url = page, url
        self.abroad: list[str] = []
        self.errors: list[str] = []
        page.set_default_timeout(60_000)  # a busy machine is no fault of the page
        page.on("request", lambda request: self._note(request.url))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("dialog", self._refuse)

    def go(self, address: str) -> Page:
        """Open an address of the board."""
        self.page.goto(self.url + address)
        self.settled()
        return self.page

    def settled(self, part: str = "") -> None:
        """Wait until the page shows what its address says, and the address holds `part`."""
        self.page.wait_for_function(_SETTLED, arg=part)

    def click(self, selector: str) -> None:
        """Click on a link and wait for what it leads to."""
        self.page.locator(selector).first.click()
        self.settled()

    def choose(self, name: str, value: str) -> None:
        """Choose from a list of the tab that is shown."""
        self.page.locator(f"select[name={name}]:visible").select_option(value)
        self.settled(f"{name}={value}" if value else "")

    def names(self) -> list[str]:
        """Systems of the table, without chance."""
        names: list[str] = self.page.locator(".board .name").all_inner_texts()
        return names[1:]

    def scores(self, column: str) -> list[float]:
        """A column of the table, without chance."""
        cells = self.page.locator(f".board tbody:not(.chance) td[data-label='{column}'] b")
        return [float(text) for text in cells.all_inner_texts()]

    def download(self, selector: str, folder: Path) -> Path:
        """Click on what makes a file, and keep it."""
        with self.page.expect_download() as started:
            self.page.locator(selector).first.click()
        file: Path = folder / started.value.suggested_filename
        started.value.save_as(file)
        return file

    def _note(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("data", "blob") and parts.hostname != "127.0.0.1":
            self.abroad.append(url)

    def _refuse(self, dialog: Any) -> None:
        self.errors.append(f"dialog: {dialog.message}")
        dialog.dismiss()
