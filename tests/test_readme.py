"""What the README shows works as it stands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from musicrs_metric.citation import BIBTEX
from musicrs_metric.runs.predictions import read_predictions
from musicrs_metric.runs.references import load_references

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", ["README.md", "musicrs_metric/README.md"])
def test_every_page_cites_alike(page: str) -> None:
    """Two keys for one paper would put it twice into somebody's bibliography."""
    assert BIBTEX in (ROOT / page).read_text(encoding="utf-8")


def snippet(mark: str) -> str:
    """The Python code of the README that holds some words."""
    (found,) = (block.split("```")[0] for block in README.split("```python\n")[1:] if mark in block.split("```")[0])
    return found


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The toy dataset."""
    from musicrs_dataset.repo.build import build
    from musicrs_dataset.sources import resolve_source

    threads, about = resolve_source("mini", clips=False)
    return build(threads, tmp_path_factory.mktemp("data"), about=about, configs=["query_only"])


def test_predictions_of_ones_own(data: Path, tmp_path: Path) -> None:
    """The code that writes them writes one valid ranking of the whole pool for each thread."""
    start = f"from datasets import load_dataset\nthreads = load_dataset({str(data)!r}, 'query_only', split='test')\n"
    code = start + snippet("runs/mine")
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)
    references = load_references(data)
    found = read_predictions(tmp_path / "runs" / "mine" / "predictions.jsonl", references).predictions
    assert [prediction.thread_id for prediction in found] == list(references.thread_ids)
    pairs = zip(found, references.candidates, strict=True)
    assert all(sorted(prediction.ranking) == sorted(pool) for prediction, pool in pairs)


def test_a_system_of_ones_own(data: Path, tmp_path: Path) -> None:
    """The class runs from the folder that one is in, and ranks the shortest title first."""
    (tmp_path / "my_systems.py").write_text(snippet("class ByLength"))
    command = ["-m", "baselines", "run", "--model", "my_systems:ByLength", "--modality", "query_only"]
    environment = {"PYTHONPATH": str(ROOT), "HF_HOME": str(tmp_path / "hf"), "PATH": "/usr/bin:/bin"}
    subprocess.run(
        [sys.executable, *command, "--dataset", str(data), "--out", "run"],
        check=True, cwd=tmp_path, env=environment, capture_output=True,
    )  # fmt: skip
    found = read_predictions(tmp_path / "run" / "predictions.jsonl").predictions
    assert all(prediction.ranking[0] == min(prediction.ranking, key=len) for prediction in found)
