"""What is gone is known before people look at it: each video is asked for once, and every link is accounted for."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from builder_scripts.annotate.judgement import JudgedLink
from builder_scripts.cli import app
from builder_scripts.layout import Work
from builder_scripts.lines import write_lines
from builder_scripts.manifest import StageManifest
from builder_scripts.refine.schema import write_corpus
from musicrs_dataset.records import Link

from ..dataset.standin import Server, Video, client_of, wav
from .test_pools_stage import KEPT, label, thread

HERE, GONE, NEWER, BUSY = "herehereheA", "gonegonegoA", "newernewerA", "busybusybuA"


def linked(*videos: str) -> tuple[Link, ...]:
    return tuple(Link(video, 0.0, f"https://youtu.be/{video}") for video in videos)


@pytest.fixture
def work(tmp_path: Path) -> Work:
    """Two threads with three links to two videos."""
    work = Work(tmp_path)
    threads = [replace(thread(), links=linked(HERE, GONE)), replace(thread(), thread_id="t3_y", links=linked(GONE))]
    write_corpus(work.corpus, threads)
    return work


@pytest.fixture
def tube(monkeypatch: pytest.MonkeyPatch) -> Server:
    """The server, not started, which the stage takes for YouTube once it is."""
    sound = wav(1.0)
    videos = {HERE: Video(sound=sound), NEWER: Video(sound=sound), GONE: Video("Private video")}
    made = Server(videos | {BUSY: Video(page=429)})
    monkeypatch.setattr(
        "musicrs_dataset.audio.fetch.client.youtube", lambda parameters: client_of(made.port)(parameters)
    )
    return made


def audio(work: Work, *options: str) -> Result:
    return CliRunner().invoke(app, ["audio", "--work", str(work.root), "--sleep", "0", *options])


def told(work: Work) -> dict[str, tuple[str, str]]:
    lines = [json.loads(line) for line in work.videos.read_text().splitlines()]
    return {line["video_id"]: (line["status"], line["why"]) for line in lines}


def test_before_and_after_annotation(work: Work, tube: Server) -> None:
    """Each video is asked for once; after annotation only what people added; links and threads have their reasons."""
    with tube:
        assert audio(work).exit_code == 0
        assert told(work) == {HERE: ("ok", ""), GONE: ("gone", "private")}
        counts = StageManifest.read(work.gold, "audio").counts
        assert counts["videos"].dropped == {"gone: private": 1}
        assert (counts["links"].kept, counts["links"].dropped) == (1, {"gone: private": 2})
        assert (counts["threads"].kept, counts["threads"].dropped) == (1, {"nothing to hear": 1})

        asked = tube.asked.copy()
        assert "nothing to do" in audio(work).stdout
        assert tube.asked == asked

        corrected = JudgedLink("corrected", NEWER, 0.0, f"https://youtu.be/{NEWER}", GONE)
        here = replace(KEPT, video_id=HERE, proposed=HERE, url=f"https://youtu.be/{HERE}")
        other = replace(label(category="other"), thread_id="t3_y")
        write_lines(work.labels, [label(links=(here, corrected)), other])
        assert audio(work).exit_code == 0
        assert tube.asked - asked == {("page", NEWER): 1, ("media", NEWER): 1, ("whole", NEWER): 1}
        assert told(work) == {HERE: ("ok", ""), NEWER: ("ok", "")}


def test_asked_to_wait(work: Work, tube: Server) -> None:
    """A rate limit ends the run with the code for another time, nothing is taken for finished, and it goes on later."""
    write_corpus(work.corpus, [replace(thread(), links=linked(BUSY, HERE))])
    with tube:
        done = audio(work)
        assert done.exit_code == 75
        assert f"stopped: rate limit at {BUSY}" in done.output
        assert not work.videos.exists()
        tube.videos[BUSY] = Video(sound=wav(1.0))
        assert audio(work, "--retry-failed").exit_code == 0
        assert told(work) == {BUSY: ("ok", ""), HERE: ("ok", "")}


def test_without_asking(work: Work, tube: Server) -> None:
    """Nobody is asked, and the links count as not asked for."""
    done = audio(work, "--no-fetch")
    assert done.exit_code == 0
    assert told(work) == {HERE: ("new", ""), GONE: ("new", "")}
    assert StageManifest.read(work.gold, "audio").counts["links"].dropped == {"not asked for": 3}
    assert "nothing to do" in audio(work, "--no-fetch").stdout
