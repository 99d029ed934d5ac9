"""axe-core finds no contrast, label, heading or role fault in any view of the leaderboard, light and dark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ..space.views_toy import mini_dataset, submissions
from .conftest import Server
from .space_pages import opened, serve_board

if TYPE_CHECKING:
    from playwright.sync_api import Browser

VIEWS = (
    "",
    "?modality=audio_only",
    "?tab=compare",
    "?tab=genres",
    "?tab=trends",
    "?tab=threads",
    "?tab=threads&thread=t3_mini01",
    "?tab=submit",
    "?tab=about",
)


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory, chromium: Path) -> Iterator[Server]:
    """A board of four systems on the mini dataset."""
    folder = tmp_path_factory.mktemp("space")
    yield from serve_board(mini_dataset(folder / "data"), folder, lambda references: submissions(references, 4))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_finding_in_any_view(browser: Browser, board: Server, scheme: Any) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    found = []
    with opened(browser, board.url, color_scheme=scheme) as visitor:
        for view in VIEWS:
            # `.empty` is what gradio shows in place of a plot that is not drawn yet; its label is gradio's.
            violations = axe.run(visitor.go(view), context={"exclude": [[".empty"]]}).response["violations"]
            found += [
                f"{view or 'first view'}: {fault['id']}: {node['html'][:160]} {node['failureSummary'][:200]}"
                for fault in violations
                for node in fault["nodes"]
            ]
    assert not found, f"{len(found)} findings:\n" + "\n".join(found[:40])
