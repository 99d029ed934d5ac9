"""A thread that several dumps hold in several states, with replies to what was deleted: from lines to replies."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from builder_scripts.layout import Work
from builder_scripts.threads.options import ThreadsOptions
from builder_scripts.threads.run import run

from .conftest import mine
from .dumps import write_dump

pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table")  # how Ibis 12 asks DuckDB 2 for Arrow

POST = {"id": "p1", "title": "Songs like this?", "selftext": "https://youtu.be/VCLxJd1d84s"}
SUBMISSIONS: list[Mapping[str, Any]] = [
    POST | {"score": 10, "retrieved_on": 100},
    POST | {"score": 80, "retrieved_on": 200},
    POST | {"selftext": "[removed]", "score": 79, "retrieved_on": 300},
]
COMMENTS: list[Mapping[str, Any]] = [
    {"id": "c1", "parent_id": "t3_p1", "body": "Take Five", "score": 3},
    {"id": "c1", "parent_id": "t3_p1", "body": "Take Five", "score": 7, "retrieved_on": 200},
    {"id": "c2", "parent_id": "t1_c1", "body": "[deleted]", "author": "[deleted]", "score": 9},
    {"id": "c3", "parent_id": "t1_c2", "body": "So What", "score": 4},
    {"id": "c4", "parent_id": "t3_p1", "body": "[removed]", "score": 1},
    {"id": "c9", "link_id": "t3_gone", "parent_id": "t3_gone", "body": "orphan", "score": 2},
]


def dump(path: Path, rows: list[Mapping[str, Any]]) -> None:
    """Write rows as a dump of r/jazz, a second apart."""
    common = {"subreddit": "jazz", "link_id": "t3_p1"} if path.name.startswith("RC") else {"subreddit": "jazz"}
    stamped = [{**common, "created_utc": 1_420_070_400 + n, **row} for n, row in enumerate(rows)]
    write_dump(path, [json.dumps(row).encode() + b"\n" for row in stamped])


@pytest.mark.parametrize("keep_deleted", [False, True])
def test_replies_to_what_was_deleted(tmp_path: Path, keep_deleted: bool) -> None:
    """A reply to a deleted reply is left out for standing below the first level, not as an orphan, and is counted."""
    dump(tmp_path / "RS_1.zst", SUBMISSIONS)
    dump(tmp_path / "RC_1.zst", COMMENTS)
    work = Work(tmp_path / "work")
    mine([tmp_path], work)
    manifest, _ = run(work, ThreadsOptions(min_replies=1, keep_deleted=keep_deleted))
    threads, replies = (pq.read_table(file).to_pylist() for file in (work.threads, work.replies))
    found = [(reply["comment_id"], reply["body"], reply["score"]) for reply in replies]
    dropped = manifest.counts["comments"].dropped
    if keep_deleted:
        assert [(thread["thread_id"], thread["score"]) for thread in threads] == [("t3_p1", 80)]
        assert found == [("t1_c1", "Take Five", 7)]
        assert dropped == {"duplicate": 1, "orphan": 1, "nested": 2, "deleted": 1}
    else:
        assert (threads, found) == ([], [])
        assert dropped == {"duplicate": 1, "orphan": 1, "thread_left_out": 4}
