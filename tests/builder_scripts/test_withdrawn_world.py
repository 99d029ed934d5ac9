"""What was taken back is in no thread, and in no file of a release; what was not is there, by an independent count."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from builder_scripts.cli import app
from builder_scripts.layout import Work
from builder_scripts.manifest import StageManifest
from builder_scripts.threads.options import ThreadsOptions
from builder_scripts.threads.run import run
from musicrs_metric.errors import UserError

from .conftest import mine
from .llm_stub import Reply, stub_server
from .test_all import texts
from .withdrawn_world import World, expected

pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table")  # how Ibis 12 asks DuckDB 2 for Arrow


def made(folder: Path, world: World) -> Work:
    """The work folder of a world, mined."""
    world.write(folder / "dumps")
    mine([folder / "dumps"], work := Work(folder / "work"), ["jazz"])
    return work


@pytest.mark.parametrize("seed", range(3))
def test_by_an_independent_count(tmp_path: Path, seed: int) -> None:
    """The same threads and replies, and as many of each sign as were left out as deleted."""
    world = World(seed)
    work = made(tmp_path, world)
    for asker_counts in (True, False):
        manifest, _ = run(work, ThreadsOptions(asker_counts=asker_counts))
        threads = {row["thread_id"] for row in pq.read_table(work.threads).to_pylist()}
        replies = {row["comment_id"] for row in pq.read_table(work.replies).to_pylist()}
        assert (threads, replies) == expected(world.posts, world.replies, asker_counts)
        assert len(threads) > 5
        assert manifest.parameters["asker_counts"] is asker_counts
        for kind in ("submissions", "comments"):
            signs = manifest.counts[f"deleted {kind}"]
            assert signs.add_up()
            assert signs.seen == manifest.counts[kind].dropped["deleted"]
    found = {sign for name, counts in manifest.counts.items() if name.startswith("deleted") for sign in counts.dropped}
    assert found >= {"marker", "notice", "was_deleted_later", "removed_by_category"}


def test_what_is_last_captured_as_gone_is_not_stored(tmp_path: Path) -> None:
    """Rows of a withdrawn capture have no text; only an earlier capture, which counts for nothing, may have one."""
    world = World(9)
    work = made(tmp_path, world)
    marked = {line["id"] for line in (*world.posts, *world.replies) if "zq" in str(line) and len(line) > 9}
    assert marked
    for folder, key in ((work.submissions, "thread_id"), (work.comments, "comment_id")):
        for path in folder.glob("*.parquet"):
            rows = pq.read_table(path).to_pylist()
            assert all("zq" not in str(row) for row in rows if row["withdrawn"] and row[key][3:] in marked)


def answer(prompt: str, before: int) -> Reply:
    """Names in quotation marks are songs, and a query repeats the title of the post."""
    if "Put its request into words" in prompt:
        title = json.loads(prompt.partition("Title of the post (JSON string): ")[2].split("\n")[0])
        return Reply(json.dumps({"query": f"I am looking for {title.lower()}"}))
    body = json.loads(re.findall(r"^(?:Reply|Text of the post) \(JSON string\): (.*)$", prompt, re.MULTILINE)[-1])
    return Reply(json.dumps({"entities": [{"name": name, "type": "song"} for name in re.findall(r'"([^"]+)"', body)]}))


def test_nothing_of_it_is_released(tmp_path: Path) -> None:
    """No word of a withdrawn text is in a request to a model or in any file of a release."""
    world = World(1)
    work = made(tmp_path, world)
    with stub_server(answer) as stub:
        asked = ["--model", "stub", "--url", stub.url]
        commands = [
            ["threads"], ["extract", *asked], ["queries", *asked], ["refine"],
            ["pools", "--unjudged", "--design", "paper"], ["release", "--name", "small"],
        ]  # fmt: skip
        for command, *options in commands:
            done = CliRunner().invoke(app, [command, "--work", str(work.root), *options])
            assert done.exception is None, (command, done.output)
        assert len(world.secrets) > 20
        assert [secret for secret in world.secrets if secret in str(stub.bodies)] == []
    released = texts(work.release / "small")
    assert any('"Amber' in text or "Amber " in text for text in released.values())
    assert [(path, word) for path, text in released.items() for word in world.secrets if word in text] == []


def test_rows_of_an_earlier_version(tmp_path: Path) -> None:
    """They are refused in one line by the stages that read them, and mined again with one line."""
    world = World(2, threads=4)
    work = made(tmp_path, world)
    path = work.bronze / "_mine.json"
    for file in (path, *work.bronze.glob("*/_*.json")):
        file.write_text(file.read_text().replace('"rows": 3', '"rows": 1'))
    with pytest.raises(
        UserError, match=r"mined by an earlier version \(rows 1, now 3\).* run `python -m .* mine`"
    ) as told:
        run(work, ThreadsOptions())
    assert "\n" not in str(told.value)
    again = CliRunner().invoke(app, ["mine", str(tmp_path / "dumps"), "--work", str(work.root), "--subreddit", "jazz"])
    assert (again.exit_code, "all dumps are mined again" in again.stderr) == (0, True)
    assert StageManifest.read(work.bronze, "mine").parameters["rows"] == 3


@pytest.mark.parametrize(
    ("case", "threads", "replies", "dropped"),
    [
        ("p01", 1, 3, {"thread_left_out": 10, "deleted": 2}), ("r17", 1, 3, {"nested": 1}),
        ("r19", 0, 0, {"deleted": 3, "few_replies": 1}), ("r21", 1, 3, {}), ("r25", 2, 6, {}),
    ],
)  # fmt: skip
def test_cases(cases: Path, tmp_path: Path, case: str, threads: int, replies: int, dropped: dict[str, int]) -> None:
    """Cases P01, R17, R19, R21, R25."""
    work = Work(tmp_path / "work")
    mined = mine([cases / case], work, ["jazz"]).counts()
    counts = run(work, ThreadsOptions())[0].counts
    assert (counts["submissions"].kept, counts["comments"].kept) == (threads, replies)
    assert counts["comments"].dropped == dropped
    assert mined["submissions"].dropped == ({"malformed": 1} if case == "r21" else {})
    assert {row["created_utc"] // 31_556_952 + 1970 for row in pq.read_table(work.threads).to_pylist()} <= {2022, 2025}
