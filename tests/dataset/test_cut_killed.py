"""`audio cut` killed at any moment and started again: the old dataset or the new one, and no clip cut twice."""

from __future__ import annotations

import hashlib
import random
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from musicrs_dataset.audio import folder as audio
from musicrs_dataset.audio.clip_plan import ClipPlan
from musicrs_dataset.audio.folder import AudioFolder
from musicrs_dataset.audio.recut import recut
from musicrs_dataset.loading import load_threads
from musicrs_dataset.records import Link, Thread
from musicrs_dataset.repo.build import build

from .standin import wav
from .support import ABOUT, TINY

IDS = ("cutcutcut0A", "cutcutcut1A", "cutcutcut2A", "silentsil0A", "damageddamA")
PROGRAM = """
import os, sys, time
from pathlib import Path
from typing import Any
from musicrs_dataset import audio, recut
make = audio._cut_clip
def slowly(*arguments):
    time.sleep(0.4)
    os.write(1, b"cut\\n")
    return make(*arguments)
audio._cut_clip = slowly
recut.recut(sys.argv[1], audio.AudioFolder(sys.argv[2], audio.ClipPlan(total_s=3.0), Path(sys.argv[1], ".clips")))
"""


def threads() -> list[Thread]:
    """Threads with links to good, silent and damaged files."""
    rng, made = random.Random(1), []
    for number in range(10):
        thread = TINY[number % len(TINY)]
        videos = rng.sample(IDS, 1 + number % len(IDS))
        links = tuple(Link(video, float(place), f"https://youtu.be/{video}") for place, video in enumerate(videos))
        made.append(replace(thread, thread_id=f"{thread.thread_id}{number}", links=links))
    return made


def contents(folder: Path) -> dict[str, str]:
    """Checksum of every file of a dataset."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    folder = tmp_path / "cache"
    folder.mkdir()
    for number, video in enumerate(IDS):
        (folder / f"{video}.wav").write_bytes(wav(6.0 + number))
    silent = wav(6.0)
    (folder / "silentsil0A.wav").write_bytes(silent[:44] + bytes(len(silent) - 44))
    (folder / "damageddamA.wav").write_bytes(b"<html>sorry</html>")
    return folder


def cut_all(dataset: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[int, list[str]]:
    """Cut the clips of a dataset; returns how many were cut in this run, and the report."""
    cut: list[object] = []
    make = audio._cut_clip

    def counted(*arguments: Any) -> Any:
        cut.append(arguments)
        return make(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(audio, "_cut_clip", counted)
        folder = AudioFolder(cache, ClipPlan(total_s=3.0), dataset / ".clips")
        recut(dataset, folder)
    return len(cut), folder.report.lines()


@pytest.mark.parametrize(
    "seed", [0, pytest.param(1, marks=pytest.mark.figures), pytest.param(2, marks=pytest.mark.figures)]
)
def test_killed_at_any_moment(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """After kills at random moments the last run ends in the files of an undisturbed run, and reports the same."""
    rng = random.Random(seed)
    disturbed, undisturbed = tmp_path / "disturbed", tmp_path / "undisturbed"
    for directory in (disturbed, undisturbed):
        build(threads(), directory, about=ABOUT)
    before = contents(disturbed / "musicrs")
    kept: set[str] = set()
    for _ in range(2):
        command = [sys.executable, "-c", PROGRAM, str(disturbed), str(cache)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()  # the first clip of this run
        time.sleep(rng.uniform(0.1, 0.9))
        process.kill()
        process.communicate()
        files = {path.name for path in (disturbed / ".clips").glob("[0-9a-f]*")}
        assert kept <= files, "a clip that was cut is lost"
        kept = files
        assert contents(disturbed / "musicrs") == before
    n_cut, report = cut_all(undisturbed, cache, monkeypatch)
    n_again, same_report = cut_all(disturbed, cache, monkeypatch)
    assert contents(disturbed / "musicrs") == contents(undisturbed / "musicrs")
    assert same_report == report
    assert any("silent" in line for line in report)
    assert any("unusable" in line for line in report)
    assert n_again < n_cut if kept else n_again == n_cut
    assert [path.name for path in disturbed.iterdir()] == ["musicrs"]


def test_kept_clips_belong_to_their_input(tmp_path: Path, cache: Path) -> None:
    """Clips are cut again where the plan, an audio file or a kept file changed."""
    build(threads(), tmp_path / "d", about=ABOUT)
    keep = tmp_path / "keep"
    thread = threads()[4]  # every file
    first = AudioFolder(cache, ClipPlan(total_s=3.0), keep).add_clips(thread)
    assert len(list(keep.iterdir())) == 1
    assert AudioFolder(cache, ClipPlan(total_s=3.0), keep).add_clips(thread) == first
    [file] = keep.iterdir()
    file.write_bytes(file.read_bytes()[:-1] + b"?")  # damaged on disk
    assert AudioFolder(cache, ClipPlan(total_s=3.0), keep).add_clips(thread) == first
    file.write_bytes(file.read_bytes()[:100])
    assert AudioFolder(cache, ClipPlan(total_s=3.0), keep).add_clips(thread) == first
    shorter = AudioFolder(cache, ClipPlan(total_s=1.5), keep).add_clips(thread)
    assert {round(clip.duration_s * len(shorter.clips or ()), 3) for clip in shorter.clips or ()} == {1.5}
    (cache / f"{IDS[0]}.wav").write_bytes(wav(9.0)[:-2000])
    other = AudioFolder(cache, ClipPlan(total_s=3.0), keep).add_clips(thread)
    assert other == AudioFolder(cache, ClipPlan(total_s=3.0)).add_clips(thread)
    recut(tmp_path / "d", AudioFolder(cache, ClipPlan(total_s=3.0), keep))
    assert not keep.exists()
    assert load_threads(tmp_path / "d", "audio_query")[4].clips == other.clips
