"""Downloads killed at any moment and started again: nothing is lost, nothing that is there is fetched twice."""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from musicrs_dataset.audio.download_ledger import known_statuses
from musicrs_dataset.audio.fetch.cache import AudioCache

from . import standin
from .standin import Server, Video, wav


def start(server: Server, cache: Path, *options: str) -> subprocess.Popen[str]:
    """Start the downloads in a process of their own."""
    command = [sys.executable, standin.__file__, *options, str(server.port), str(cache), *server.videos]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def asked_for(server: Server, kind: str) -> int:
    """How many requests of a kind there were."""
    return sum(n for (asked, _), n in server.asked.copy().items() if asked == kind)


def check_files(server: Server, cache: Path) -> set[str]:
    """Everything that bears a name in the cache is whole and has its JSON; returns which videos these are."""
    files = AudioCache(cache).videos()
    for video_id, file in files.items():
        sound = file.read_bytes()
        assert sound == server.videos[video_id].sound
        about = json.loads(file.with_suffix(".json").read_text(encoding="utf-8"))
        assert about["sha256"] == hashlib.sha256(sound).hexdigest()
    return set(files)


@pytest.mark.figures
@pytest.mark.parametrize("workers", [1, 3])
def test_killed_at_any_moment(tmp_path: Path, workers: int) -> None:
    """Six kills at moments drawn by chance; whatever was there or known at a kill is never asked for again."""
    rng = random.Random(workers)
    songs = {f"song{i}song0A": Video(sound=wav(8 + i), pause_s=0.004) for i in range(8)}
    gone = {f"gone{i}gone0A": Video("This video is private") for i in range(2)}
    both = list((songs | gone).items())
    rng.shuffle(both)
    with Server(dict(both)) as server:
        known: dict[str, int] = {}
        for moment in ("page", "media") * 3:  # the first request of this kind, and some time after it
            before = asked_for(server, moment)
            process = start(server, tmp_path, "--workers", str(workers))
            while asked_for(server, moment) == before and process.poll() is None:
                time.sleep(0.005)
            time.sleep(rng.uniform(0, 0.35 if moment == "page" else 0.1))
            process.kill()
            process.communicate()
            time.sleep(0.1)  # until the server has noticed
            assert check_files(server, tmp_path) <= set(songs)
            for video_id, n in known.items():
                assert server.asked["page", video_id] == n, "it was known, and asked for again"
            known |= {video_id: server.asked["page", video_id] for video_id in known_statuses(tmp_path)}
        process = start(server, tmp_path, "--workers", str(workers))
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
        assert check_files(server, tmp_path) == set(songs)
        assert known_statuses(tmp_path) == dict.fromkeys(songs, "ok") | dict.fromkeys(gone, "gone")
        for video_id, n in known.items():
            assert server.asked["page", video_id] == n
        assert sum(server.asked["rest", video_id] for video_id in songs) > 0, "no download was taken up in its middle"
        assert not list((tmp_path / "partial").iterdir())
        asked = server.asked.copy()
        assert start(server, tmp_path).wait() == 0
        assert server.asked == asked


def test_killed_between_download_and_name(tmp_path: Path) -> None:
    """A file that was whole when the process died, but had no name yet, gets it without being sent again."""
    with Server({"okokokokokA": Video()}) as server:
        part = AudioCache(tmp_path).partial("okokokokokA")
        for name in ("140.m4a", "140.m4a.part"):  # yt-dlp's names after and before its own last step
            (part / name).write_bytes(wav())
            process = start(server, tmp_path)
            _, errors = process.communicate(timeout=60)
            assert process.returncode == 0, errors
            assert check_files(server, tmp_path) == {"okokokokokA"}
            assert server.asked["whole", "okokokokokA"] == 0
            AudioCache(tmp_path).videos()["okokokokokA"].unlink()
            part = AudioCache(tmp_path).partial("okokokokokA")
