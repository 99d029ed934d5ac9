"""What the README says of the score can be used as it stands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from musicrs_metric.citation import BIBTEX
from musicrs_metric.run_card import read_run_card

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", "musicrs_metric/README.md")


@pytest.mark.parametrize("page", PAGES)
def test_every_page_cites_alike(page: str) -> None:
    """Two keys for one paper would put it twice into somebody's bibliography."""
    assert BIBTEX in (ROOT / page).read_text(encoding="utf-8")


def test_the_smallest_run_card_of_the_readme_is_one(tmp_path: Path) -> None:
    """What the README shows can be read as it stands."""
    shown = (ROOT / "README.md").read_text(encoding="utf-8").split("```json\n")[1].split("```")[0]
    (tmp_path / "run.json").write_text(shown, encoding="utf-8")
    assert read_run_card(tmp_path).reads == json.loads(shown)["reads"]
