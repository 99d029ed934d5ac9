"""A manifest accounts for every row and tells when nothing is left to do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from builder_scripts.manifest import Counts, FileHash, StageManifest, hash_files, is_done
from musicrs_metric.errors import UserError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with an input, an output and their manifest."""
    (tmp_path / "in.zst").write_text("dump")
    (tmp_path / "out.parquet").write_text("rows")
    write(tmp_path)
    return tmp_path


def inputs(folder: Path) -> tuple[FileHash, ...]:
    return hash_files([folder / "in.zst"])


def write(folder: Path, counts: Counts = Counts(3, 1, {"short": 2})) -> StageManifest:  # noqa: B008
    outputs = hash_files([folder / "out.parquet"], below=folder)
    manifest = StageManifest("threads", inputs(folder), outputs, {"k": (1, 2)}, {"comments": counts}, 1.5)
    manifest.write(folder)
    return manifest


def test_hashes(folder: Path) -> None:
    """Files are known by size and sha256 (of `dump` and `rows`, from sha256sum)."""
    found = StageManifest.read(folder, "threads")
    assert [(file.bytes, file.sha256[:8]) for file in (*found.inputs, *found.outputs)] == [
        (4, "b6ca0868"),
        (4, "bc51e9e6"),
    ]
    assert found.outputs[0].path == "out.parquet"


def test_rows_that_are_unaccounted_for(folder: Path) -> None:
    """A stage that lost a row leaves no manifest that says otherwise."""
    before = (folder / "_threads.json").read_bytes()
    with pytest.raises(ValueError, match="do not add up"):
        write(folder, Counts(3, 1, {"short": 1}))
    assert (folder / "_threads.json").read_bytes() == before


def test_counts_of_parts() -> None:
    """Parts add up reason by reason."""
    both = Counts(5, 2, {"a": 3}) + Counts(4, 1, {"b": 1, "a": 2})
    assert (both.to_dict(), both.add_up()) == ({"in": 9, "kept": 3, "dropped": {"a": 5, "b": 1}}, True)


def test_nothing_to_do(folder: Path) -> None:
    """The same inputs and parameters leave nothing to do, wherever the folder has gone."""
    moved = folder.rename(folder.with_name("moved"))
    assert is_done(moved, "threads", {"k": [1, 2]}, inputs(moved))


@pytest.mark.parametrize("change", ["parameter", "input", "output gone", "output cut", "manifest gone", "manifest cut"])
def test_something_to_do(folder: Path, change: str) -> None:
    """Whatever has changed, the stage is run again."""
    manifest = folder / "_threads.json"
    if change == "input":
        (folder / "in.zst").write_text("other")
    elif change == "output gone":
        (folder / "out.parquet").unlink()
    elif change == "output cut":
        (folder / "out.parquet").write_text("row")
    elif change == "manifest gone":
        manifest.unlink()
    elif change == "manifest cut":
        manifest.write_text(manifest.read_text()[:-20])
    parameters = {"k": [1, 3] if change == "parameter" else [1, 2]}
    assert not is_done(folder, "threads", parameters, inputs(folder))


@pytest.mark.parametrize("text", [None, "{", "[]", json.dumps({"stage": "threads"})])
def test_no_manifest(tmp_path: Path, text: str | None) -> None:
    """A stage that was not run, or a damaged manifest, is told with the command that mends it."""
    if text is not None:
        (tmp_path / "_threads.json").write_text(text)
    with pytest.raises(UserError, match="threads"):
        StageManifest.read(tmp_path, "threads")
