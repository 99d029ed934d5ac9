"""A video server that fails in every way: after kills and a change of server, the files of an undisturbed run."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from builder_scripts.cli import app
from builder_scripts.layout import Work
from builder_scripts.manifest import StageManifest
from builder_scripts.pipeline.config import read_config
from builder_scripts.refine.schema import write_corpus
from musicrs_dataset.audio.download_ledger import read_entries
from musicrs_dataset.records import Link
from musicrs_metric.errors import UserError

from ..dataset.standin import Server, Video, client_of, wav
from .test_pools_stage import thread

PROGRAM = """
import sys
from tests.dataset.standin import client_of
from musicrs_dataset.audio.fetch import client
client.youtube = client_of(int(sys.argv[1]))
from builder_scripts.cli import main
sys.argv[:2] = ["builder_scripts"]
main()
"""
FAULTS: tuple[dict[str, Any], ...] = (
    {"media": 403},
    {"page": 503},
    {"media": 500},
    {"media": 404},
    {"halves": 99},
    {"halves": 1},
    {"sound": b"<html>sorry</html>"},
    {"pause_s": 0.02},
    {"live": True},
    {"says": "Sign in to confirm you’re not a bot"},
    {"says": "Video unavailable. This content isn’t available."},
    {"says": "Video unavailable. Playback on other websites has been disabled by the video owner"},
    {"says": "The playback of this video is not available from private networks"},
    {"says": "The page needs to be reloaded."},
    {"says": "Requested format is not available"},
    {"says": "This video is not available in your country"},
    {"says": "Video unavailable. This content isn't available, try again later"},
    {"page": 429},
)
GOOD = {f"good{i:06}A": Video(sound=wav(0.5 + i / 10)) for i in range(len(FAULTS))}
GONE = {
    "removedremA": Video("This video has been removed by the uploader"),
    "privateprvA": Video("Private video. Sign in if you've been granted access to this video"),
    "claimclaimA": Video("This video is no longer available due to a copyright claim by Private Network Ltd"),
}


def corpus(folder: Path, videos: list[str]) -> Work:
    """A work folder with one link per video."""
    work = Work(folder)
    links = [Link(video, 0.0, f"https://youtu.be/{video}") for video in videos]
    threads = [replace(thread(), thread_id=f"t3_{n}", links=(link,)) for n, link in enumerate(links)]
    write_corpus(work.corpus, threads)
    return work


def start(server: Server, work: Work, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", PROGRAM, str(server.port), "audio", "--work", str(work.root), "--sleep", "0"]
    return subprocess.Popen([*command, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str]) -> tuple[int, str]:
    output, errors = process.communicate(timeout=120)
    assert "Traceback" not in errors, errors
    return process.returncode, output + errors


def results(work: Work) -> tuple[str, dict[str, bytes], dict[str, Any], object]:
    """Everything that the stage makes, without the time of the download."""
    audio = {path.name: path.read_bytes() for path in work.audio.glob("audio/*/*") if path.suffix != ".json"}
    notes = {path.name: json.loads(path.read_text()) | {"fetched_at": ""} for path in work.audio.glob("audio/*/*.json")}
    return work.videos.read_text(), audio, notes, StageManifest.read(work.gold, "audio").counts


def run(server: Server, work: Work, patch: pytest.MonkeyPatch, *options: str) -> tuple[int, str]:
    """Run the stage in this process; returns the exit code and everything that it prints."""
    patch.setattr("musicrs_dataset.audio.fetch.client.youtube", client_of(server.port))
    done = CliRunner().invoke(app, ["audio", "--work", str(work.root), "--sleep", "0", *options])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


def test_faults_and_another_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run against a failing server, then a good server: the same files as from the good server alone."""
    few = dict(list(GOOD.items())[9:])
    faulty = {video: replace(few[video], **fault) for video, fault in zip(few, FAULTS[9:], strict=True)}
    work, undisturbed = corpus(tmp_path / "work", [*few, *GONE]), corpus(tmp_path / "undisturbed", [*few, *GONE])
    with Server(faulty | GONE) as server:
        assert run(server, work, monkeypatch)[0] == 75  # the rate limit
        assert not work.videos.exists()
    with Server(few | GONE) as server:
        assert run(server, work, monkeypatch, "--retry-failed")[0] == 0
        assert run(server, undisturbed, monkeypatch)[0] == 0
    assert results(work) == results(undisturbed)
    assert len(results(work)[1]) == len(few)


@pytest.mark.figures  # seven processes per seed
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_kills_faults_and_another_server(tmp_path: Path, seed: int) -> None:
    """Two kills, runs against a failing server, then a good server: the same files as from the good server alone."""
    rng = random.Random(seed)
    order = rng.sample([*GOOD, *GONE], len(GOOD) + len(GONE))
    faulty = {video: replace(GOOD[video], **fault) for video, fault in zip(GOOD, FAULTS, strict=True)}
    work, undisturbed = corpus(tmp_path / "work", order), corpus(tmp_path / "undisturbed", order)
    with Server(faulty | GONE) as server:
        for _ in range(2):
            process = start(server, work, "--retry-failed")
            before = server.asked.total()
            while server.asked.total() == before and process.poll() is None:
                time.sleep(0.01)
            time.sleep(rng.uniform(0, 0.3))
            process.kill()
            process.communicate()
        code, output = finish(start(server, work, "--yt-dlp", "retries=1", "--yt-dlp", "retry-sleep=0"))
        assert code in (0, 75), output
        assert {video for video, entry in read_entries(work.audio).items() if entry.status == "gone"} <= set(GONE)
    with Server(GOOD | GONE) as server:
        assert finish(start(server, work, "--retry-failed"))[0] == 0
        assert finish(start(server, undisturbed))[0] == 0
        assert results(work) == results(undisturbed)
        assert len(results(work)[1]) == len(GOOD)
        asked = server.asked.copy()
        assert "nothing to do" in finish(start(server, work))[1]
        assert server.asked == asked


@pytest.mark.parametrize(
    ("fault", "n", "told"),
    [
        ({"media": 403}, 10, "stopped: 10 equal failures in a row, the last: forbidden at"),
        ({"says": "Requested format is not available"}, 10, "10 equal failures in a row, the last: no format at"),
        ({"says": "Sign in to confirm you’re not a bot"}, 10, "10 equal failures in a row, the last: bot check at"),
        ({"says": "Video unavailable. This video is unavailable"}, 10, "10 equal failures in a row, the last: unavail"),
        ({"page": 429}, 1, "stopped: rate limit at"),
    ],
)
def test_exit_codes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: dict[str, Any], n: int, told: str) -> None:
    """A wrong set-up and a rate limit end with 75 and advice, and give no video up; a good server ends with 0."""
    videos = {f"video{i:05}A": Video(**fault) for i in range(14)}
    work = corpus(tmp_path, [*videos])
    with Server(videos) as server:
        code, output = run(server, work, monkeypatch)
        assert code == 75
        assert told in output
        assert sum(kind == "page" for kind, _ in server.asked) == n
        if n == 10:
            for word in ("client", "cookies", "PO token", "JavaScript runtime", "address"):
                assert word in output
        assert {entry.status for entry in read_entries(work.audio).values()} == {"retry"}
        server.videos = dict.fromkeys(videos, Video())
        code, output = run(server, work, monkeypatch, "--retry-failed")
        assert code == 0, output
        assert StageManifest.read(work.gold, "audio").counts["videos"].kept == 14


def test_a_mistake_in_an_option(tmp_path: Path) -> None:
    """Told in one line without the value, before anything is asked for; from the command line and from a file."""
    work, wrong = corpus(tmp_path, [*GOOD]), "proxy=http://me:hunter2@host:port"
    with pytest.raises(UserError, match="--yt-dlp proxy: expected a URL") as error:
        CliRunner().invoke(app, ["audio", "--work", str(work.root), "--yt-dlp", wrong], catch_exceptions=False)
    assert "hunter2" not in str(error.value)
    for value in ([wrong], wrong, {"proxy": wrong}, [{"proxy": wrong}]):
        settings = {"work": "w", "mine": {"dumps": ["d"]}, "release": {"name": "x"}, "audio": {"yt_dlp": value}}
        (tmp_path / "run.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
        with pytest.raises(UserError, match=r"audio\.yt_dlp: .*expected a") as error:
            read_config(tmp_path / "run.yaml")
        assert "hunter2" not in str(error.value)


def test_options_in_the_settings_file(tmp_path: Path) -> None:
    """The settings of a whole run have the same options."""
    audio = {"yt_dlp": ["player-client=tv", "retries=2"], "max_minutes": 90, "max_megabytes": 100}
    settings = {"work": "w", "mine": {"dumps": ["d"]}, "release": {"name": "x"}, "audio": audio}
    (tmp_path / "run.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    assert read_config(tmp_path / "run.yaml").audio.model_dump(include={*audio}) == audio
