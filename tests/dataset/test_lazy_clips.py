"""Clips read one thread at a time: the same as all at once, however the rows lie in files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from musicrs_dataset.audio.lazy_clips import LazyClips
from musicrs_dataset.loading import load_threads
from musicrs_dataset.repo.build import build

from .support import ABOUT, TINY, evaluate, with_clips

HEARD = (with_clips(TINY[0], b"one", b"two"), replace(TINY[1], clips=()), *(with_clips(t, b"more") for t in TINY[2:]))


@pytest.mark.parametrize("shard_bytes", [1, 10**9])
@pytest.mark.parametrize("group_rows", [1, 3, 64])
@pytest.mark.parametrize("config", ["audio_query", "audio_only"])
def test_clips_by_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shard_bytes: int, group_rows: int, config: str
) -> None:
    """One file or several, one group of rows or several, in any order of places."""
    monkeypatch.setattr("musicrs_dataset.repo.parquet.GROUP_ROWS", group_rows)
    folder = build(HEARD, tmp_path, about=ABOUT, shard_bytes=shard_bytes)
    assert len(list(folder.glob(f"{config}/*.parquet"))) == (1 if shard_bytes > 1 else -(-len(HEARD) // group_rows))
    expected = [thread.clips for thread in load_threads(tmp_path, config)]
    assert expected == [thread.clips for thread in HEARD]
    stored = LazyClips(tmp_path, config)
    for place in (0, 1, 2, 3, 3, 0, 2):
        assert stored(place) == expected[place]


def test_clips_of_the_installed_dataset(tmp_path: Path) -> None:
    """By name as by folder."""
    build(HEARD, tmp_path / "out", about=ABOUT)
    code = f"""
from musicrs_dataset.repo.install import install
from musicrs_dataset.audio.lazy_clips import LazyClips
install({str(tmp_path / "out")!r}, metric=False)
by_name, by_folder = LazyClips("musicrs", "audio_only"), LazyClips({str(tmp_path / "out")!r}, "audio_only")
print([len(by_name(place)) for place in range(4) if by_name(place) == by_folder(place)])
"""
    assert evaluate(code, tmp_path / "home", tmp_path) == [2, 0, 1, 1]
