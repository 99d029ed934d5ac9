"""The whole way in one command: from dumps over models and people to a dataset that loads and a scored system."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml
from typer.testing import CliRunner, Result

from builder_scripts.cli import app
from builder_scripts.layout import Work
from builder_scripts.manifest import StageManifest
from musicrs_dataset.loading import load_threads
from musicrs_dataset.validate import validate
from musicrs_metric.errors import UserError

from ..dataset.standin import Server, Video, client_of, wav
from .llm_stub import Stub, stub_server
from .small_world import (
    ASKER,
    OUTSIDE,
    SECRET,
    SUBREDDITS,
    THREADS,
    WRITER,
    answer,
    judge,
    songs,
    thread_id,
    video,
    write_dumps,
)

ALL = len(SUBREDDITS) * (THREADS + OUTSIDE)
GONE, NEWER = video("jazz", 2), video("newer", 1)


@dataclass
class World:
    """Where the run happens, and who is asked meanwhile.

    Attributes:
        runs: The results of the command, in order.
        asked: Requests to the model, and to YouTube, after each.
    """

    folder: Path
    stub: Stub
    tube: Server
    runs: list[Result] = field(default_factory=list)
    asked: list[tuple[int, Counter[tuple[str, str]]]] = field(default_factory=list)

    @property
    def work(self) -> Work:
        return Work(self.folder / "work")

    @property
    def release(self) -> Path:
        return self.work.release / "small-world"

    def run(self) -> None:
        self.runs.append(CliRunner().invoke(app, ["all", "--config", str(self.folder / "run.yaml")]))
        self.asked.append((len(self.stub.bodies), self.tube.asked.copy()))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Three runs: one that ends where people are to judge, one after they have, and one more."""
    folder = tmp_path_factory.mktemp("world")
    write_dumps(folder / "dumps")
    videos = {video(subreddit, number): Video(sound=wav(1.0)) for subreddit in SUBREDDITS for number in range(10)}
    videos |= {NEWER: Video(sound=wav(1.0)), GONE: Video("Private video")}
    with stub_server(answer) as stub, Server(videos) as tube, pytest.MonkeyPatch.context() as patch:
        patch.setattr("musicrs_dataset.audio.fetch.client.youtube", client_of(tube.port))
        settings = {
            "work": "work", "home": "hf",
            "mine": {"dumps": ["dumps"], "workers": 1},
            "extract": {"model": "stub", "url": stub.url}, "queries": {"model": "stub", "url": stub.url},
            "audio": {"sleep": 0}, "annotate": {"labels": "labels.jsonl"}, "pools": {"seed": 3, "distractors": 12},
            "release": {"name": "small-world", "by": "A lab", "contact": "data@example.org", "budget": 2},
        }  # fmt: skip
        (folder / "run.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
        world = World(folder, stub, tube)
        world.run()
        judge(world.work.worklist, folder / "labels.jsonl")
        world.run()
        world.run()
        yield world


def test_stops_and_goes_on(world: World) -> None:
    """It stops where people are to judge, goes on where it stopped, and the third time does nothing and asks nobody."""
    first, second, third = world.runs
    assert isinstance(first.exception, UserError)
    assert "labels.jsonl: no such file" in str(first.exception)
    assert world.asked[0][0] == ALL + ALL * 4 + ALL  # posts, replies, requests

    assert second.exception is None, second.output
    told = [line.partition(" (")[0] for line in second.stdout.splitlines()]
    before = [f"{stage}: nothing to do" for stage in ("mine", "threads", "extract", "queries", "refine", "audio")]
    after = [f"{stage}: made" for stage in ("annotate", "audio of what was added", "pools", "release", "baseline")]
    assert told == [*before, *after, "done"]
    assert world.asked[1][0] == world.asked[0][0]
    assert world.asked[1][1] - world.asked[0][1] == Counter({(kind, NEWER): 1 for kind in ("page", "media", "whole")})

    assert third.stdout.splitlines()[-1] == "nothing to do: all of it was there"
    assert "made" not in third.stdout
    assert world.asked[2] == world.asked[1]


def test_waits_for_people(world: World) -> None:
    """Without labels it ends at the work list, and says what to run."""
    settings = yaml.safe_load((world.folder / "run.yaml").read_text())
    (world.folder / "people.yaml").write_text(yaml.safe_dump(settings | {"annotate": {}}))
    done = CliRunner().invoke(app, ["all", "--config", str(world.folder / "people.yaml")])
    assert isinstance(done.exception, UserError)
    assert "waits for annotators: run `python -m builder_scripts annotate serve" in str(done.exception)
    assert done.stdout.splitlines()[-1].startswith("audio: nothing to do")


def test_loads_by_its_own_name(world: World) -> None:
    """In its own HF_HOME the dataset loads by name, and has the threads that people took for music."""
    code = (
        "import datasets; rows = datasets.load_dataset('small-world', 'query_only_balanced', split='test');"
        "print(sorted(rows['thread_id']))"
    )
    environment = os.environ | {"HF_HOME": str(world.folder / "hf"), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=world.folder, env=environment, capture_output=True, text=True, check=True
    )
    wanted = sorted(thread_id(subreddit, number) for subreddit in SUBREDDITS for number in range(THREADS))
    assert done.stdout.strip() == str(wanted)


def test_is_a_valid_dataset(world: World) -> None:
    """Nothing is missing or invalid, clips included; the right answers are those that the replies name, by upvotes."""
    assert validate(world.release, clips=True).is_valid
    threads = {thread.thread_id: thread for thread in load_threads(world.release, "audio_query")}
    for subreddit in SUBREDDITS:
        for number in range(THREADS):
            thread = threads[thread_id(subreddit, number)]
            named = songs(subreddit, number)
            # People struck out the best answer of thread 1, and linked to another video.
            assert list(thread.ground_truth) == (named[1:] if number == 1 else named)
            linked = NEWER if number == 1 else video(subreddit, number)
            assert [(link.video_id, link.status) for link in thread.links] == [
                (linked, "gone" if linked == GONE else "ok")
            ]
            assert len(thread.clips or ()) == (linked != GONE)


def test_score(world: World) -> None:
    """The system's score is there, over all threads, beside its chance level."""
    score = json.loads((world.work.baseline / "score.json").read_text())
    assert score["n"] == len(SUBREDDITS) * THREADS
    # All candidates of pools of 15 or 16 are among the first 20.
    assert (score["recall@20"], score["chance"]["recall@20"]) == (1, 1)
    assert 0 < score["mrr"] < 1


def test_every_row_is_accounted_for(world: World) -> None:
    """In every manifest rows add up, and what one stage keeps is what the next one gets."""
    work = world.work
    at = {"mine": work.bronze, "threads": work.silver, "release": world.release, "baseline": work.baseline}
    names = ("mine", "threads", "extract", "queries", "refine", "audio", "annotate", "pools", "release", "baseline")
    made = {name: StageManifest.read(at.get(name, work.gold), name).counts for name in names}
    assert all(counts.add_up() for stage in made.values() for counts in stage.values())
    assert made["mine"]["submissions"].kept == made["threads"]["submissions"].seen == ALL + len(SUBREDDITS)
    assert made["threads"]["submissions"].dropped == {"no_link": len(SUBREDDITS)}
    assert made["threads"]["submissions"].kept == made["extract"]["posts"].seen == made["queries"]["threads"].seen
    assert made["threads"]["comments"].kept == made["extract"]["replies"].seen == 4 * ALL
    assert made["queries"]["threads"].kept == made["refine"]["threads"].seen - made["refine"]["threads"].dropped.get(
        "", 0
    )
    assert made["refine"]["threads"].kept == made["annotate"]["threads"].seen == made["pools"]["threads"].seen
    assert made["pools"]["threads"].dropped == {"pop culture": len(SUBREDDITS) * OUTSIDE}
    assert made["pools"]["threads"].kept == made["release"]["threads"].seen == made["baseline"]["threads"].kept
    assert made["pools"]["answers"].dropped["struck out"] == len(SUBREDDITS)


def texts(folder: Path) -> dict[str, str]:
    """All that can be read in a folder, by file."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".parquet":
            found[str(path)] = str([{**row, "clips": None} for row in pq.read_table(path).to_pylist()])
        elif path.is_file():
            found[str(path)] = path.read_bytes().decode("utf-8", "replace")
    return found


def test_no_author_is_named(world: World) -> None:
    """Neither who wrote nor who is mentioned is named in the release, nor the key, nor a place of this machine."""
    names = [*(ASKER.format(i) for i in range(THREADS)), *(WRITER.format(i) for i in range(THREADS + OUTSIDE))]
    secrets = [*names, world.work.salt.read_text().strip(), str(world.folder)]
    assert [
        (path, word) for path, text in texts(world.release).items() for word in secrets if word.lower() in text.lower()
    ] == []
    authors = [json.loads(line) for line in (world.release / "making" / "authors.jsonl").open()]
    assert len({row["author"] for row in authors}) == THREADS
    # Who is mentioned in thread 3 is who wrote its fourth reply, under one pseudonym.
    (third,) = (row for row in authors if row["thread_id"] == thread_id("jazz", 3))
    writer = third["comments"][f"t1_{thread_id('jazz', 3)[3:]}3"]
    threads = {thread.thread_id: thread for thread in load_threads(world.release)}
    assert f"that u/{writer} shared" in str(threads[thread_id("jazz", 3)].post)


def test_the_card_is_its_own(world: World) -> None:
    """Card and datasheet speak of this dataset, with its figures, and not of the published one."""
    card, sheet = (world.release / "README.md").read_text(), (world.release / "datasheet.md").read_text()
    assert 'load_dataset("small-world", "query_only"' in card
    assert "\n# small-world\n" in card
    assert 'load_dataset("musicrs"' not in card
    for name in ("funnel", "coverage"):
        assert (world.release / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert b"<svg" in (world.release / "figures" / f"{name}.svg").read_bytes()
        assert f"figures/{name}.png" in sheet
    sections = ["Motivation", "Composition", "Collection process", "Preprocessing, cleaning, labelling", "Uses"]
    assert all(f"\n## {name}\n" in sheet for name in [*sections, "Distribution", "Maintenance"])
    assert f"| judged and released | {len(SUBREDDITS) * THREADS} | 477 | {len(SUBREDDITS) * OUTSIDE} pop culture |" in (
        sheet.replace("\u00a0", " ")
    )


def test_the_answers_are_enough(world: World, tmp_path: Path) -> None:
    """With the same dumps and the published answers, the corpus is made again without asking the model."""
    again = Work(tmp_path / "again")
    shutil.copytree(world.work.silver, again.silver)
    again.cache.mkdir()
    shutil.copy(world.release / "making" / "answers.jsonl", again.cache / "answers.jsonl")
    for stage in ("extract", "queries"):
        options = ["--work", str(again.root), "--model", "stub", "--url", "http://127.0.0.1:9/v1", "--retries", "0"]
        done = CliRunner().invoke(app, [stage, *options])
        assert done.exception is None, done.output
    assert again.entities.read_bytes() == world.work.entities.read_bytes()


def test_without_people(world: World, tmp_path: Path) -> None:
    """A corpus that nobody has judged keeps every thread and every answer, and says so."""
    work = Work(tmp_path / "raw")
    shutil.copytree(world.work.root, work.root, ignore=shutil.ignore_patterns("release", "baseline", "audio"))
    options = ["--work", str(work.root)]
    for command in (["pools", "--unjudged", "--design", "paper"], ["release", "--name", "raw"]):
        done = CliRunner().invoke(app, [*command, *options])
        assert done.exception is None, done.output
    release = work.release / "raw"
    threads = {thread.thread_id: thread for thread in load_threads(release)}
    assert len(threads) == ALL
    assert threads[thread_id("metal", 1)].ground_truth == tuple(songs("metal", 1))
    assert not (release / "making" / "labels.jsonl").exists()
    for page in ("README.md", "datasheet.md"):
        assert "No person has judged these threads" in (release / page).read_text()


def test_nothing_of_others_is_deleted(world: World) -> None:
    """A file that no release has written stops the next one."""
    stranger = world.release / "notes.txt"
    stranger.write_text("mine")
    done = CliRunner().invoke(app, ["release", "--work", str(world.work.root), "--name", "small-world"])
    assert isinstance(done.exception, UserError)
    assert "notes.txt, which no release has written" in str(done.exception)
    stranger.unlink()


def test_takedown(world: World, tmp_path: Path) -> None:
    """A thread, a reply and a video that are to be removed are nowhere in the release, nor in any later one."""
    thread, other, video_id = thread_id("jazz", 0), thread_id("metal", 3), video("metal", 5)
    reply = f"t1_{other[3:]}0"
    before = {one.thread_id: one for one in load_threads(world.release)}
    assert any(SECRET in text for text in texts(world.release).values())
    (tmp_path / "list.txt").write_text(f"# asked for on Monday\n{thread}  # all of it\n\n{reply}\n{video_id}\n")
    options = ["--work", str(world.work.root), "--name", "small-world", "--budget", "2"]
    done = CliRunner().invoke(app, ["release", *options, "--takedown", str(tmp_path / "list.txt")])
    assert done.exception is None, done.output

    listed = world.release / "takedown.txt"
    assert [line for line in listed.read_text().splitlines() if line[0] != "#"] == [thread, reply, video_id]
    for path, text in texts(world.release).items():
        if path != str(listed):
            assert not [word for word in (SECRET, thread, reply, video_id) if word in text], path
    now = {one.thread_id: one for one in load_threads(world.release)}
    assert set(before) - set(now) == {thread}
    # What that reply alone named is no answer any more, and stays a candidate.
    assert now[other].ground_truth == before[other].ground_truth[1:]
    assert {name: one.candidates for name, one in now.items()} == {name: before[name].candidates for name in now}
    answers = [json.loads(line)["text"] for line in (world.release / "making" / "answers.jsonl").open()]
    assert not [text for text in answers if songs("jazz", 0)[0] in text or songs("metal", 3)[0] in text]
    assert [text for text in answers if songs("metal", 3)[1] in text]

    assert CliRunner().invoke(app, ["release", *options]).exception is None
    assert thread in listed.read_text()
    assert thread not in {one.thread_id for one in load_threads(world.release)}
