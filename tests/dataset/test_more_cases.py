"""Decoders that are there and do not load, clips that are not there, and links that several threads share."""

from __future__ import annotations

import io
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from musicrs_dataset.repo.build import build
from musicrs_dataset.youtube import video_id

from .support import ABOUT, TINY, evaluate, with_clips

BROKEN = 'raise RuntimeError("Could not load libtorchcodec. Likely causes: FFmpeg is not properly installed")\n'


def test_a_torchcodec_that_does_not_load_costs_nothing(tmp_path: Path) -> None:
    """Threads with a clip, an empty list and none at all are read, clips are loaded, and texts need no decoder."""
    pytest.importorskip("soxr")
    file = io.BytesIO()
    soundfile.write(file, np.ones(48_000, np.float32) / 2, 48_000, format="FLAC")
    sounds = [with_clips(TINY[0], file.getvalue()), replace(TINY[1], clips=()), replace(TINY[2], clips=None)]
    build(sounds, tmp_path / "data", about=ABOUT)
    package = tmp_path / "broken" / "torchcodec"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(BROKEN)
    code = f"""
import json
try:
    import torchcodec
except RuntimeError:
    pass
else:
    raise SystemExit("this test needs a torchcodec that does not load")
from datasets import Audio, Sequence, load_dataset
from musicrs_dataset.audio.clips import load_clip
from musicrs_dataset.loading import load_threads
threads = load_threads({str(tmp_path / "data")!r}, "audio_query")
samples = load_clip(threads[0].clips[0], 16_000)
rows = load_dataset({str(tmp_path / "data" / "musicrs")!r}, "audio_query", split="test")
queries = rows["query"][:]
raw = rows.cast_column("clips", Sequence(Audio(decode=False)))
print(json.dumps([len(samples), [len(thread.clips) for thread in threads], queries, [len(r["clips"]) for r in raw]]))
"""
    path = [str(tmp_path / "broken"), str(Path(__file__).parents[2])]
    n_samples, n_clips, queries, n_raw = evaluate(code, tmp_path / "home", PYTHONPATH=":".join(path))
    assert (n_samples, n_clips, n_raw) == (16_000, [1, 0, 0], [1, 0, 0])
    assert queries == [thread.query for thread in sounds]


def test_videos_that_threads_share(upstream_rows: list[dict[str, Any]]) -> None:
    """Of the published videos 21 are linked by several threads, and the 25 links into a list name one video each."""
    threads_of: dict[str, set[str]] = defaultdict(set)
    lists = []
    for row in upstream_rows:
        for url in row["valid_urls"]:
            video = video_id(url)
            if video is not None:
                threads_of[video].add(row["name"])
            if "list=" in url:
                lists.append(video)
    assert sum(len(threads) > 1 for threads in threads_of.values()) == 21
    assert len(lists) == 25
    assert all(video is not None and len(video) == 11 for video in lists)
