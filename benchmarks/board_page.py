"""Time to open the leaderboard's page, relative to an empty page of the same library.

    python -m benchmarks board_page [--rows 200] [--rounds 5]

The page is opened in Chromium with nothing cached, until every row stands in it. In turns with it an empty page
of Gradio is opened, which is what no page made with Gradio can be quicker than; what the board adds is the difference.
Then every tab is asked for once by a link, as a reader does.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.board import fill, make_dataset
from space.factory import make_service
from space.settings import LeaderboardSettings
from space.views.address import TABS
from tests.browser.conftest import FLAGS, Server

from .side_by_side import report

if TYPE_CHECKING:
    from playwright.sync_api import Browser

TARGET_S = 2.0
_EMPTY = """
import gradio
with gradio.Blocks(analytics_enabled=False) as page:
    gradio.HTML("<p id=there>there</p>")
page.launch(server_name="127.0.0.1", server_port=PORT, quiet=True)
"""
_SHOWN = "tab => document.body.dataset.shown === location.search && location.search.includes(tab)"


def main(argv: Sequence[str] | None = None) -> None:
    """Print the seconds.

    Args:
        argv: `--rows N` and `--rounds N`.
    """
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(prog="python -m benchmarks board_page")
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="musicrs-page-") as folder:
        dataset = Path(folder, "data")
        make_dataset(dataset)
        fill(Path(folder), given.rows)
        # Judged beforehand: a board that is started again finds its scores on disk.
        make_service(LeaderboardSettings(dataset=str(dataset), results=Path(folder))).board.snapshot()
        board = Server("-m", "space", "--port", "PORT", "--results", folder, "--dataset", dataset)
        empty = Server("-c", _EMPTY)
        try:
            board.start()
            empty.start()
            with sync_playwright() as playwright:
                chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
                browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
                _open(browser, board.url, empty.url, given.rows, given.rounds)
                _walk(browser, board.url)
                browser.close()
        finally:
            board.kill()
            empty.kill()


def _open(browser: Browser, board: str, empty: str, rows: int, rounds: int) -> None:
    pages = {
        "empty page": (empty, "document.querySelector('#there')"),
        "board": (board, f"document.querySelectorAll('.board a.name').length === {rows}"),
    }
    seconds: dict[str, list[float]] = {name: [] for name in pages}
    for _ in range(rounds + 1):  # the first one opens the browser's own files
        for name, (url, ready) in pages.items():
            context = browser.new_context()
            page = context.new_page()
            start = time.perf_counter()
            page.goto(url, wait_until="commit")
            page.wait_for_function(ready, polling=20, timeout=120_000)
            seconds[name].append(time.perf_counter() - start)
            context.close()
    middle = {name: median(times[1:]) for name, times in seconds.items()}
    print(f"opened with nothing cached, median of {rounds}: {rows} rows")
    for name, value in middle.items():
        print(f"  {name:14}{value:8.2f} s" + (f"   at most {TARGET_S:g}" if name == "board" else ""))
    report("opening", {"rows": rows, "seconds": seconds, "median": middle})


def _walk(browser: Browser, board: str) -> None:
    page = browser.new_page()
    page.goto(board)
    page.wait_for_selector(".board")
    print("then each tab by a link, the first time and again")
    for tab in (*TABS[1:], TABS[0]):
        times = []
        for _ in range(2):
            start = time.perf_counter()
            page.locator(f".tabs [data-tab={tab}]").click()
            page.wait_for_function(_SHOWN, arg=tab, polling=20, timeout=120_000)
            times.append(time.perf_counter() - start)
            page.locator(".tabs [data-tab=about]").click()
            page.wait_for_function(_SHOWN, arg="about", polling=20)
        print(f"  {tab:14}{times[0]:8.2f} s{times[1]:8.2f} s")


if __name__ == "__main__":
    main()
