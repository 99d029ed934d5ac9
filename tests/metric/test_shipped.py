"""Rankings of the shipped systems, compared without running them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from musicrs_metric.compare.load import load_runs
from musicrs_metric.compare.shipped import _lines, is_shipped, shipped_names, shipped_run, write_shipped
from musicrs_metric.errors import UserError
from musicrs_metric.runs.references import References, load_references

from .support import TINY, references_of

# recall@20, nDCG@20 and MRR in per cent, from docs/results.md, which lists runs of the systems themselves.
RESULTS = Path(__file__).parents[2] / "docs" / "results.md"


@pytest.fixture
def published(upstream_file: Path, tmp_path: Path) -> References:
    """The published data as `musicrs_dataset` writes them."""
    out = str(tmp_path / "data")
    build = ["build", "--from", str(upstream_file), "--out", out, "--no-install"]
    subprocess.run([sys.executable, "-m", "musicrs_dataset", *build], check=True, capture_output=True)
    return load_references(out)


def test_places_are_integers_without_text() -> None:
    """Each line is a system: a run card without names of threads, and permutations."""
    for line in _lines():
        entry = json.loads(line)
        assert len(entry["places"]) == 477
        assert all(sorted(places) == list(range(len(places))) for places in entry["places"])
        assert "t3_" not in line
    assert {"lexical", "random", "popularity"} <= set(shipped_names())


def test_names_do_not_hide_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of the same name is the run of the user; a path is no name."""
    monkeypatch.chdir(tmp_path)
    assert is_shipped(Path("lexical"))
    assert not is_shipped(Path("runs/lexical"))
    assert not is_shipped(Path("lexicall"))
    (tmp_path / "lexical").mkdir()
    assert not is_shipped(Path("lexical"))


def test_other_data_are_refused() -> None:
    """The places mean nothing for other pools."""
    with pytest.raises(UserError, match="shipped for the published data") as error:
        shipped_run("lexical", references_of(TINY))
    assert "python -m baselines run --model lexical" in str(error.value)


def test_scores_of_the_published_data(published: References, tmp_path: Path) -> None:
    """The rankings give the scores of the table in docs/results.md, and writing them again gives the same places."""
    rows = RESULTS.read_text(encoding="utf-8").splitlines()
    metrics = ("recall@20", "ndcg@20", "mrr")
    for name in shipped_names():
        (run,) = load_runs([Path(name)], published, metrics)
        row = next(row for row in rows if row.startswith(f"| `{name}`"))
        for metric in metrics:
            assert f"{100 * run.system.table.values[metric].mean():.2f} [" in row
    file = tmp_path / "again.jsonl"
    write_shipped([shipped_run(name, published) for name in shipped_names()], published, file)
    again = [json.loads(line)["places"] for line in file.read_text().splitlines()]
    assert again == [json.loads(line)["places"] for line in _lines()]
