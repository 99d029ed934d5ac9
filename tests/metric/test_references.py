"""What predictions are scored against: found by path, checked, fingerprinted."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from musicrs_metric.errors import UserError
from musicrs_metric.runs.references import load_references

from .support import TINY, columns_of, references_of, write_repo

COLUMNS = columns_of(references_of(TINY))


@pytest.mark.parametrize("inside", ["", "musicrs"])
def test_a_directory_or_the_repo_in_it(tmp_path: Path, inside: str) -> None:
    """Both name the same data, in dataset order, with the groups of the benchmark."""
    references = load_references(write_repo(tmp_path, COLUMNS) / inside)
    assert list(references.thread_ids) == ["t3_a", "t3_b", "t3_c"]
    assert list(references.candidates[1]) == ["Ash", "Bog", "Cog"]
    assert list(references.ground_truth[2]) == []
    assert references.groups == {
        "genre": ["Jazz", "Metal", "Jazz"],
        "subreddit": ["jazz", "metal", "jazz"],
        "macro": ["IM", "AE", "IM"],
    }


def test_the_fingerprint_is_that_of_the_contract() -> None:
    """sha256 over one UTF-8 JSON line with sorted keys per thread; anything scored that changes, changes it."""
    rows = [{"name": "t3_a", "source_subreddit": "jazz", "final_candidates": ["Ö", '"x"'], "limited_gt": ["Ö"]}]
    text = '{"candidates": ["Ö", "\\"x\\""], "ground_truth": ["Ö"], "thread_id": "t3_a"}\n'
    assert references_of(rows).fingerprint == hashlib.sha256(text.encode()).hexdigest()
    turned = [rows[0] | {"final_candidates": ['"x"', "Ö"]}]
    assert references_of(turned).fingerprint != references_of(rows).fingerprint


@pytest.mark.parametrize("name", ["nowhere/at/all", "./nowhere", "/nowhere"])
def test_no_such_directory(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path that is not there is told as a path."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="no such directory; build one with"):
        load_references(name)


@pytest.mark.parametrize("name", ["nothing-of-this-name", "nobody/nothing-of-this-name"])
def test_no_such_name(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that is neither installed nor to be had offline."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=f"dataset '{name}', configuration 'query_only': not found"):
        load_references(name)


def test_a_directory_without_a_dataset(tmp_path: Path) -> None:
    """An empty directory, and a file."""
    with pytest.raises(UserError, match="no dataset found in it"):
        load_references(tmp_path)
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(UserError, match="no dataset found in it"):
        load_references(tmp_path / "file")


@pytest.mark.parametrize(
    "config", ["audio_only", "", ".", "*", "query_onl?", "**", "/", "/etc", "../musicrs/query_only", "a\nb", "a\0b"]
)
def test_no_such_configuration(tmp_path: Path, config: str) -> None:
    """The configurations that are there are named, also for what a file system would take as a path or a pattern."""
    folder = write_repo(tmp_path, COLUMNS)
    with pytest.raises(UserError) as error:
        load_references(folder, config)
    assert str(error.value) == f"{folder / 'musicrs'}: no configuration {config!r}; it has query_only"


def wrong(**columns: Any) -> dict[str, Any]:
    return {name: value for name, value in (COLUMNS | columns).items() if value is not None}


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (wrong(candidates=None), "cannot be read as a MusiCRS dataset"),
        (wrong(candidates=["Ade", "Ash", "Elm"]), "thread t3_a, column 'candidates' holds 'Ade', expected a list"),
        (wrong(ground_truth=[["Bop"], None, []]), "thread t3_b, column 'ground_truth' holds null, expected a list"),
        (wrong(genre=[1, 2, 1]), "column 'genre' holds 1, expected text"),
        (wrong(thread_id=["t3_a", "t3_b", "t3_a"]), "thread t3_a appears in it twice"),
        ({name: value[:0] for name, value in COLUMNS.items()}, "holds no thread"),
    ],
)
def test_wrong_columns(tmp_path: Path, columns: dict[str, Any], said: str) -> None:
    """A column that is absent, of another type or null, a doubled thread, no rows."""
    with pytest.raises(UserError) as error:
        load_references(write_repo(tmp_path, columns))
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("kept", [0, 4, 0.5, 0.99])
def test_a_cut_file(tmp_path: Path, kept: float) -> None:
    """A shard that ends too early is told with its configuration, wherever it was cut."""
    folder = write_repo(tmp_path, COLUMNS)
    shard = next(folder.glob("musicrs/query_only/*.parquet"))
    whole = shard.read_bytes()
    shard.write_bytes(whole[: int(kept * len(whole)) if kept < 1 else int(kept)])
    with pytest.raises(UserError, match="query_only: cannot be read as a MusiCRS dataset"):
        load_references(folder)


def test_a_subset_has_the_data_of_its_threads_in_the_given_order() -> None:
    """All threads return the same object, so that nothing is computed again."""
    references = references_of(TINY)
    part = references.subset(["t3_c", "t3_b"])
    assert (list(part.thread_ids), list(part.ground_truth)) == (["t3_c", "t3_b"], [[], ["Cog", "Ash"]])
    assert part.groups["genre"] == ["Jazz", "Metal"]
    assert references.subset(references.thread_ids) is references
