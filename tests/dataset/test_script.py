"""The builder class on the installed `datasets`: the rows of `build`, without torch, cached by content."""

from __future__ import annotations

from pathlib import Path

import pytest

from musicrs_dataset.repo.build import build
from musicrs_dataset.sources import HUB_FILE, HUB_ID, resolve_source
from musicrs_metric.errors import UserError

from ..fakehub import FakeHub
from .support import evaluate
from .test_upstream import ROW, write

BUILD = """
import json, os, sys
os.environ["USE_TORCH"] = "0"
sys.modules["torchcodec"] = None  # importing it fails, as where it is not installed
from musicrs_dataset.musicrs import Musicrs
def rows(config=None, streaming=False, **how):
    builder = Musicrs(config_name=config, **how)
    if streaming:
        return list(builder.as_streaming_dataset(split="test"))
    builder.download_and_prepare()
    return builder.as_dataset(split="test").with_format("arrow")[:].to_pylist()
"""


def test_same_rows_as_build(tmp_path: Path) -> None:
    """Each configuration has the columns, types and rows of the folder, whole and as a stream."""
    source = write(tmp_path / "a.jsonl", ROW, {**ROW, "name": "t3_z", "limited_gt": []})
    threads, about = resolve_source(source)
    folder = build(threads, tmp_path / "out", about=about)
    code = f"""{BUILD}
from datasets import load_dataset
for config in ("audio_query", "query_only", "audio_only"):
    built = load_dataset({str(folder)!r}, config, split="test")
    made = rows(config, data_dir={str(source)!r})
    assert made == built.with_format("arrow")[:].to_pylist(), config
    assert [row["thread_id"] for row in rows(config, True, data_dir={str(source)!r})] == ["t3_x", "t3_z"]
    assert Musicrs(config_name=config, data_dir={str(source)!r}).info.features == built.features, config
assert Musicrs(data_dir={str(source)!r}).config.name == "audio_query"
assert "torch" not in sys.modules
print(len(made))
"""
    assert evaluate(code, tmp_path / "home") == 2


@pytest.mark.figures
def test_changed_source_is_read_anew(tmp_path: Path) -> None:
    """The cache goes by what the source holds, not by its path."""
    source = tmp_path / "a.jsonl"
    for query in ("First?", "Second?", "First?"):
        write(source, {**ROW, "query": query})
        code = f"{BUILD}\nprint(json.dumps(rows('query_only')[0]['query']))"
        assert evaluate(code, tmp_path / "home", MUSICRS_DATA=str(source)) == query


@pytest.mark.figures
def test_clips_of_the_mini_dataset(tmp_path: Path) -> None:
    """The embedded dataset is a source too, with its clips."""
    code = f"{BUILD}\nprint(json.dumps([len(row['clips']) for row in rows('audio_only', data_dir='mini')]))"
    assert evaluate(code, tmp_path / "home") == [2] * 28


def test_without_a_source_the_hub_is_asked(tmp_path: Path) -> None:
    """With no path given the authors' file comes from the Hub, for a whole dataset and for a stream."""
    source = write(tmp_path / "a.jsonl", ROW)
    with FakeHub() as hub:
        hub.repos[f"datasets/{HUB_ID}"] = {HUB_FILE: source.read_bytes()}
        code = f"{BUILD}\nprint(json.dumps([len(rows('query_only')), len(rows('query_only', True))]))"
        found = evaluate(
            code, tmp_path / "home", MUSICRS_DATA="", HF_ENDPOINT=hub.endpoint, HF_HUB_OFFLINE="0",
            HF_DATASETS_OFFLINE="0", HF_HUB_DISABLE_XET="1",
        )  # fmt: skip
    assert found == [1, 1]


def test_missing_source(monkeypatch: pytest.MonkeyPatch) -> None:
    """A path that is not there is told before anything is built."""
    from musicrs_dataset.musicrs import Musicrs

    monkeypatch.setenv("MUSICRS_DATA", "/nowhere/file.jsonl")
    with pytest.raises(UserError, match=r"/nowhere/file\.jsonl: no such file"):
        Musicrs(config_name="query_only")
