"""A mistyped path is told as a path, and the Hub is never asked for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from musicrs_dataset.sources import resolve_source
from musicrs_metric.base.paths import is_repo_name
from musicrs_metric.errors import UserError
from musicrs_metric.runs.references import load_references

SUFFIXES = (
    ".txt",
    ".jsonl",
    ".jsonl.gz",
    ".JSONL",
    ".csv",
    ".parquet",
    ".zst",
    ".bz2",
    ".7z",
    ".json5",
    ".bak",
    ".txt~",
)
FORMS = (
    *(f"nowhere/threads{suffix}" for suffix in SUFFIXES),
    "here/threads", "here/threads/", "./threads", "./here/threads.txt", "../threads", "/nowhere/threads",
    "~/no-threads", "~/nowhere/threads", "here\\threads", "C:\\here\\threads.jsonl", "C:/here/threads", "nowhere/",
    "a/b/c", "a//b",
    "hf://datasets/owner/name", "https://huggingface.co/datasets/owner/name", "here/..", "-x/y", "a/.b",
)  # fmt: skip


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working directory with one folder in it, and a Hub that must not be asked."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path)

    def asked(*arguments: object, **options: object) -> None:
        pytest.fail(f"the Hub was asked for {arguments}")

    monkeypatch.setattr("huggingface_hub.hf_hub_download", asked)
    monkeypatch.setattr("datasets.load_dataset", asked)


@pytest.mark.parametrize("path", FORMS)
def test_a_path_is_no_name(path: str) -> None:
    """Neither to build from nor to read: one line with the path."""
    assert not is_repo_name(path)
    with pytest.raises(UserError, match=r"(no such file|a directory); expected the authors' JSONL file") as built:
        resolve_source(path)
    with pytest.raises(UserError, match=r"no such directory|no dataset found in it") as read:
        load_references(path)
    assert "\n" not in f"{built.value}{read.value}"


@pytest.mark.parametrize(
    "name", ["rohan2810/MusiCRS", "owner/model-7B-v1.5", "org/leader_board.v2", "a/b", "Qwen/Qwen2.5"]
)
def test_names(name: str) -> None:
    """Names on the Hub may hold dots and digits."""
    assert is_repo_name(name)
