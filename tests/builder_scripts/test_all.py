"""The whole way in one command: from dumps over models and people to a dataset that loads and a scored system."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from builder_scripts.annotate import places
from builder_scripts.cli import app
from builder_scripts.layout import Work
from musicrs_metric.errors import UserError

from ..dataset.standin import Server, Video, client_of, wav
from .llm_stub import Stub, stub_server
from .small_world import (
    OUTSIDE,
    SUBREDDITS,
    THREADS,
    answer,
    judge,
    video,
    write_dumps,
)

ALL = len(SUBREDDITS) * (THREADS + OUTSIDE)


@dataclass
class World:
    """Where the run happens, and who is asked meanwhile."""

    folder: Path
    stub: Stub
    tube: Server

    @property
    def work(self) -> Work:
        return Work(self.folder / "work")

    @property
    def release(self) -> Path:
        return self.work.release / "small-world"

    def run(self) -> Result:
        return CliRunner().invoke(app, ["all", "--config", str(self.folder / "run.yaml")])

    def stage(self, *arguments: object) -> Result:
        return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Dumps, a model and a YouTube, and a file of settings."""
    folder = tmp_path_factory.mktemp("world")
    write_dumps(folder / "dumps")
    videos = {video(subreddit, number): Video(sound=wav(1.0)) for subreddit in SUBREDDITS for number in range(10)}
    videos |= {video("newer", 1): Video(sound=wav(1.0)), video("jazz", 2): Video("Private video")}
    with stub_server(answer) as stub, Server(videos) as tube, pytest.MonkeyPatch.context() as patch:
        patch.setattr("musicrs_dataset.fetch.client.youtube", client_of(tube.port))
        settings = {
            "work": "work", "home": "hf",
            "mine": {"dumps": ["dumps"], "workers": 1},
            "extract": {"model": "stub", "url": stub.url}, "queries": {"model": "stub", "url": stub.url},
            "audio": {"sleep": 0}, "annotate": {"labels": "labels.jsonl"}, "pools": {"seed": 3, "distractors": 12},
            "release": {"name": "small-world", "by": "A lab", "contact": "data@example.org", "budget": 2},
        }  # fmt: skip
        (folder / "run.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
        yield World(folder, stub, tube)


def test_all(world: World) -> None:
    """It stops where people are to judge, goes on where it stopped, and does nothing the third time."""
    first = world.run()
    assert isinstance(first.exception, UserError)
    assert "labels.jsonl: no such file" in str(first.exception)
    asked = len(world.stub.bodies)
    assert asked == ALL + ALL * 4 + ALL  # posts, replies, requests
    judge(places.worklist(world.work), world.folder / "labels.jsonl")

    second = world.run()
    assert second.exception is None, second.output
    told = [line.partition(" (")[0] for line in second.stdout.splitlines()]
    before = [f"{stage}: nothing to do" for stage in ("mine", "threads", "extract", "queries", "refine", "audio")]
    after = [f"{stage}: made" for stage in ("annotate", "audio of what was added", "pools", "release", "baseline")]
    assert told == [*before, *after, "done"]
    assert world.tube.asked["media", video("newer", 1)] == 1

    pages = world.tube.asked.copy()
    third = world.run()
    assert third.stdout.splitlines()[-1] == "nothing to do: all of it was there"
    assert "made" not in third.stdout
    assert (len(world.stub.bodies), world.tube.asked) == (asked, pages)
