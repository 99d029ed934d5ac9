"""Paths of the authors' published file and of the reference files, which are not part of this repository.

`MUSICRS_DATA` names the file. `cases/` and `reference/` are next to its folder. Tests that need them skip if they are
absent, with one reason for the file and another one for the rest. `.ci/run` fails for both reasons, the public workflow
for the first one only.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

ABSENT = "the authors' file is absent: MUSICRS_DATA names no file"
NO_REFERENCE = "the reference files are absent"
DATA = Path(os.environ.get("MUSICRS_DATA", "../shared/data/musicrs_upstream.jsonl")).absolute()

# A look-up by name must find neither the network nor what the user of this machine has installed.
_home = tempfile.TemporaryDirectory(prefix="musicrs-tests-", ignore_cleanup_errors=True)
os.environ["HF_HOME"] = _home.name
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("HF_DATASETS_OFFLINE", "1")
os.environ.setdefault("HF_EVALUATE_OFFLINE", "1")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not DATA.is_file():
        for item in items:
            if item.get_closest_marker("upstream"):
                item.add_marker(pytest.mark.skip(reason=ABSENT))


def _beside(*parts: str) -> Path:
    path = DATA.parent.parent.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"{NO_REFERENCE}: no {'/'.join(parts)} next to the folder of MUSICRS_DATA")
    return path


@pytest.fixture(scope="session")
def upstream_file() -> Path:
    """The authors' published JSONL file."""
    if not DATA.is_file():
        pytest.skip(ABSENT)
    return DATA


@pytest.fixture(scope="session")
def upstream_rows(upstream_file: Path) -> list[dict[str, Any]]:
    """Its raw rows."""
    with upstream_file.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.fixture(scope="session")
def reference_metrics() -> dict[str, Any]:
    """Right values on that file, computed with independent libraries."""
    values: dict[str, Any] = json.loads(_beside("reference", "reference_metrics.json").read_text(encoding="utf-8"))
    return values


@pytest.fixture(scope="session")
def awkward_rows() -> dict[str, Any]:
    """The odd rows of that file, by kind."""
    rows: dict[str, Any] = json.loads(_beside("reference", "awkward_rows.json").read_text(encoding="utf-8"))
    return rows


@pytest.fixture(scope="session")
def cases() -> Path:
    """Folder of small inputs from publicly reported failures."""
    return _beside("cases")


@pytest.fixture(scope="session")
def paper_table1() -> Path:
    """The paper's Table 1 as CSV."""
    return _beside("data", "paper_table1.csv")
