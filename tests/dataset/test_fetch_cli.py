"""`audio fetch`, `audio status` and `audio cut`: from links to clips in a dataset, and how each ends."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from musicrs_dataset.cli import app
from musicrs_dataset.loading import load_threads
from musicrs_dataset.pools.files import NamedPools
from musicrs_dataset.records import Link
from musicrs_dataset.repo.build import build
from musicrs_dataset.sources import resolve_source
from musicrs_metric.errors import UserError

from .standin import Server, Video, client_of, wav
from .support import ABOUT, TINY

SHARED, AGE, GONE = "sharedshadA", "ageageageaA", "-onegonegoA"


def linked(*videos: str) -> tuple[Link, ...]:
    return tuple(Link(video, 0.0, f"https://youtu.be/{video}") for video in videos)


THREADS = (
    replace(TINY[0], links=linked(SHARED, AGE)),
    replace(TINY[1], links=linked(SHARED, "not/a/video")),
    replace(TINY[2], links=linked(GONE)),
    replace(TINY[3], links=()),
)


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """Directory of a dataset with further pools."""
    pools = {thread.thread_id: thread.candidates[::-1] for thread in THREADS}
    build(THREADS, tmp_path / "d", about=ABOUT, pools=[NamedPools("turned", pools)])
    return tmp_path / "d"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    """The server, not started, which the command line takes for YouTube once it is."""
    videos = {
        SHARED: Video(sound=wav(3.0)),
        AGE: Video("Sign in to confirm your age"),
        GONE: Video("Video unavailable. This video has been removed by the uploader"),
    }
    made = Server(videos)
    monkeypatch.setattr(
        "musicrs_dataset.audio.fetch.client.youtube", lambda parameters: client_of(made.port)(parameters)
    )
    return made


def audio(*arguments: object) -> Result:
    """Run `audio ...` to its end."""
    return CliRunner().invoke(app, ["audio", *map(str, arguments)], env={"COLUMNS": "200"}, catch_exceptions=False)


def test_from_links_to_clips(dataset: Path, server: Server, tmp_path: Path) -> None:
    """One download serves both threads that share a video; the dataset then has its clips, statuses and old pools."""
    cache = tmp_path / "cache"
    with server:
        done = audio("fetch", dataset, "--cache", cache, "--sleep", 0)
        assert done.exit_code == 0
        assert "3 videos are due; YouTube allows about 300 per hour, so about a minute\nFetching: 3/3\n" in done.stderr
        assert "3 videos due, 3 tried: 1 gone, 1 ok, 1 restricted" in done.stdout
        assert "2 of 4 threads have audio" in done.stdout
        assert server.asked["media", SHARED] == 1
        again = audio("fetch", dataset, "--cache", cache, "--sleep", 0)
        assert "0 videos due, 0 tried: none" in again.stdout
        assert again.stderr == ""
        assert server.asked["page", GONE] == 1
    done = audio("cut", dataset, "--cache", cache, "--budget", 2, "--no-install")
    assert done.exit_code == 0
    assert f"2 clips -> {dataset / 'musicrs'}" in done.stdout
    cut = load_threads(dataset, "audio_query")
    assert [[(c.video_id, c.duration_s) for c in t.clips or ()] for t in cut] == [
        [(SHARED, 2.0)],
        [(SHARED, 2.0)],
        [],
        [],
    ]
    statuses = [[link.status for link in thread.links] for thread in cut]
    assert statuses == [["ok", "restricted"], ["ok", "new"], ["gone"], []]
    assert [t.candidates for t in load_threads(dataset, "audio_only_turned")] == [t.candidates[::-1] for t in THREADS]
    without = [replace(t, clips=None, links=()) for t in load_threads(dataset, "query_only")]
    assert without == [replace(t, links=()) for t in THREADS]
    stated = json.loads((dataset / "musicrs" / "manifest.json").read_text(encoding="utf-8"))
    assert stated["clip_plan"] == {"total_s": 2.0, "max_clips": 10, "seed": 0}
    assert stated["source"]["name"] == ABOUT.name
    card = (dataset / "musicrs" / "README.md").read_text(encoding="utf-8")
    assert f"sha256 `{stated['audio_sha256']}`" in card
    assert "Links: 1 gone, 1 new, 2 ok, 1 restricted." in card


def test_status(dataset: Path, server: Server, tmp_path: Path) -> None:
    """Videos are counted by what they came to and why, with their links, and every open matter has its next step."""
    cache = tmp_path / "cache"
    before = json.loads(audio("status", dataset, "--cache", cache, "--json").stdout)
    assert not cache.exists()
    assert [(row["status"], row["why"], row["videos"], row["links"]) for row in before["rows"]] == [
        ("new", "", 3, 4),
        ("gone", "no video id", 1, 1),
    ]
    assert before["next"] == ["`audio fetch` downloads 3 videos for the first time"]
    with server:
        audio("fetch", dataset, "--cache", cache, "--sleep", 0)
    after = json.loads(audio("status", dataset, "--cache", cache, "--json").stdout)
    assert {(row["status"], row["why"]): (row["videos"], row["links"]) for row in after["rows"]} == {
        ("ok", ""): (1, 2),
        ("restricted", "age"): (1, 1),
        ("gone", "removed"): (1, 1),
        ("gone", "no video id"): (1, 1),
    }
    assert (after["threads"], after["with_audio"]) == (4, 2)
    assert after["next"] == [
        "`audio fetch --retry-failed --cookies FILE` may download 1 restricted video",
        "`audio cut` cuts clips of the downloaded audio into the dataset",
    ]
    shown = audio("status", dataset, "--cache", cache).stdout
    assert "Sign in to confirm your age" in shown
    assert "2 of 4 threads have audio" in shown


def test_stopped(dataset: Path, server: Server, tmp_path: Path) -> None:
    """A run that the server stops ends with code 75 and says why and what to do; later it goes on where it stopped."""
    cache = tmp_path / "cache"
    with server:
        server.videos[AGE] = Video("Video unavailable. This content isn’t available, try again later")
        done = audio("fetch", dataset, "--cache", cache, "--sleep", 0)
        assert done.exit_code == 75
        assert "3 videos due, 2 tried: 1 ok, 1 retry" in done.stdout
        assert f"stopped: rate limit at {AGE} (Video unavailable. This content isn't available, try" in done.stderr
        assert "wait an hour, then start it again" in done.stderr
        assert "`audio fetch` tries 1 video again, the first in 60 minutes" in done.stdout
        server.videos[AGE] = Video()
        done = audio("fetch", dataset, "--cache", cache, "--sleep", 0, "--retry-failed")
        assert "2 videos due, 2 tried: 1 gone, 1 ok" in done.stdout
        assert server.asked["page", SHARED] == 1


def test_limit(dataset: Path, server: Server, tmp_path: Path) -> None:
    """No more videos are asked for than the limit says."""
    with server:
        audio("fetch", dataset, "--cache", tmp_path / "cache", "--sleep", 0, "--limit", 1)
        assert {video_id for _, video_id in server.asked} == {SHARED}


def test_a_wrong_folder_takes_no_clips_away(dataset: Path, tmp_path: Path) -> None:
    """Cutting from a folder in which no file belongs to a thread is refused, and the clips of before stay."""
    for folder, name in (("right", f"{SHARED}.wav"), ("wrong", "My Song.wav")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_bytes(wav(3.0))
    assert audio("cut", dataset, "--cache", tmp_path / "right", "--budget", 2, "--no-install").exit_code == 0
    before = load_threads(dataset, "audio_query")
    assert sum(len(thread.clips or ()) for thread in before) == 2
    with pytest.raises(UserError, match="none of its files belongs to a thread"):
        audio("cut", dataset, "--cache", tmp_path / "wrong", "--no-install")
    assert load_threads(dataset, "audio_query") == before


def test_mistakes(dataset: Path, tmp_path: Path) -> None:
    """What the user got wrong is told in one line before anything is asked for or written."""
    mini, _ = resolve_source("mini", clips=False)
    build(mini, tmp_path / "mini", about=ABOUT)
    build(THREADS, tmp_path / "text", about=ABOUT, configs=["query_only"])
    (tmp_path / "files").mkdir()
    for arguments, message in [
        (("fetch", tmp_path / "mini", "--cache", tmp_path / "cache"), "a toy with invented videos"),
        (("fetch", dataset, "--cache", tmp_path / "cache", "--cookies", tmp_path / "no"), "no such file"),
        (("status", tmp_path / "nowhere", "--cache", tmp_path / "cache"), "no such directory"),
        (("cut", dataset, "--cache", tmp_path / "nowhere"), "no such directory"),
        (("cut", dataset, "--cache", tmp_path / "files"), "no files in it"),
        (("cut", dataset, "--cache", dataset, "--budget", 0), "found a budget of 0 s"),
        (("cut", tmp_path / "text", "--cache", dataset / "musicrs"), "none of its configurations carries audio"),
    ]:
        with pytest.raises(UserError, match=message):
            audio(*arguments)
    assert not (tmp_path / "cache").exists()
