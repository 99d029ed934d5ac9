"""Threads read back from a dataset, and one clear line where it is none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from musicrs_dataset.loading import iter_threads, load_threads
from musicrs_dataset.repo.build import build
from musicrs_metric.errors import UserError

from .support import ABOUT, TINY, evaluate, with_clips


def test_directory_and_folder(tiny: Path) -> None:
    """The directory given to `build` and the folder in it give the threads that were built."""
    assert load_threads(tiny) == load_threads(tiny / "musicrs") == list(TINY)


def test_clips_come_as_bytes(tmp_path: Path) -> None:
    """Clips are read undecoded with their names and places, or left unread with their places alone."""
    heard = [with_clips(TINY[0], b"one", b"two"), replace(TINY[1], clips=())]
    build(heard, tmp_path, about=ABOUT)
    assert load_threads(tmp_path, "audio_query") == heard
    unread = list(iter_threads(tmp_path, "audio_query", audio=False))
    assert [[clip.audio for clip in thread.clips or ()] for thread in unread] == [[b"", b""], []]
    assert [clip.video_id for clip in unread[0].clips or ()] == ["AAAAAAAAAA0", "AAAAAAAAAA1"]


def test_installed_name(tmp_path: Path) -> None:
    """The installed name gives the same threads as the folder, clips undecoded."""
    heard = [with_clips(TINY[0], b"one", b"two"), *TINY[1:]]
    build(heard, tmp_path / "out", about=ABOUT)
    code = f"""
from musicrs_dataset.repo.install import install
from musicrs_dataset.loading import load_threads
install({str(tmp_path / "out")!r}, metric=False)
for config in ("query_only", "audio_query", "audio_only"):
    assert load_threads("musicrs", config) == load_threads({str(tmp_path / "out")!r}, config), config
print(len(load_threads()))
"""
    # Without HF_HUB_OFFLINE: a name without an owner must not cost a look at the Hub.
    assert evaluate(code, tmp_path / "home", tmp_path, HF_HUB_OFFLINE="0", HF_DATASETS_OFFLINE="0") == len(TINY)


def test_datasets_gives_clips_without_a_decoder(tmp_path: Path) -> None:
    """As the card says: where no decoder is installed, the compressed bytes are there all the same."""
    folder = build([with_clips(TINY[0], b"one", b"two")], tmp_path / "out", about=ABOUT)
    code = f"""
import json, sys
sys.modules["torchcodec"] = None  # importing it fails, as where it is not installed
from datasets import Audio, Sequence, load_dataset
threads = load_dataset({str(folder)!r}, "audio_only", split="test")
threads = threads.cast_column("clips", Sequence(Audio(decode=False)))
print(json.dumps([clip["bytes"].decode() for clip in threads[0]["clips"]]))
"""
    assert evaluate(code, tmp_path / "home") == ["one", "two"]


@pytest.mark.parametrize(
    ("dataset", "config", "told"),
    [
        ("/nowhere/at/all", "query_only", "no such directory"),
        ("tiny", "query_onl?", "no configuration 'query_onl\\?'"),
        ("tiny", "", "no configuration ''"),
        ("tiny", "/etc", "no configuration '/etc'"),
        ("tiny", "queries", "no configuration 'queries'; it has audio_only, audio_query, query_only"),
    ],
)
def test_not_found(tiny: Path, monkeypatch: pytest.MonkeyPatch, dataset: str, config: str, told: str) -> None:
    """A path and a configuration that are not there are told apart."""
    monkeypatch.chdir(tiny.parent)
    with pytest.raises(UserError, match=told):
        load_threads(dataset, config)


def test_cut_file(tiny: Path) -> None:
    """A shard that was cut off is named in one line."""
    shard = tiny / "musicrs" / "query_only" / "test-00000-of-00001.parquet"
    shard.write_bytes(shard.read_bytes()[:-100])
    with pytest.raises(
        UserError, match=r"test-00000-of-00001\.parquet: cannot be read .*rebuild the dataset"
    ) as caught:
        load_threads(tiny)
    assert "\n" not in str(caught.value)


def test_other_columns(tiny: Path) -> None:
    """A shard with other columns is refused by name."""
    shard = tiny / "musicrs" / "query_only" / "test-00000-of-00001.parquet"
    table = pyarrow.parquet.read_table(shard)
    pyarrow.parquet.write_table(table.drop_columns(["query"]), shard)
    with pytest.raises(UserError, match="its columns are not those of query_only"):
        load_threads(tiny)


def test_row_with_a_gap(tiny: Path) -> None:
    """A row that lacks a list is refused with its thread."""
    shard = tiny / "musicrs" / "query_only" / "test-00000-of-00001.parquet"
    table = pyarrow.parquet.read_table(shard)
    rows = table.to_pylist()
    rows[2]["candidates"] = None
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows, schema=table.schema), shard)
    with pytest.raises(UserError, match="query_only, thread t3_c: invalid row"):
        load_threads(tiny)
