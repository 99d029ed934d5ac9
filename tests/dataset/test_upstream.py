"""The authors' file: which field becomes which, what is refused and what is counted."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from musicrs_dataset.records import Comment, Entities, Link, Thread
from musicrs_dataset.sources import HUB_FILE, HUB_ID, resolve_source
from musicrs_dataset.upstream import import_upstream
from musicrs_metric.base.genres import GENRE_OF_SUBREDDIT
from musicrs_metric.base.hashing import file_sha256
from musicrs_metric.errors import UserError

from .support import read_upstream

ROW: dict[str, Any] = {
    "name": "t3_x",
    "query": "Something slow?",
    "combined_text": "Slow things &amp; more",
    "score": 12.0,
    "url": "https://example.org/t3_x",
    "source_subreddit": "postrock",
    "submission_entities": ["Dawn"],
    "combined_comment_entities": ["Reed", "Sedge"],
    "comments": [{"name": "t1_y", "score": -2.0, "entities": {"artists": ["Oda"], "albums": [], "songs": ["Reed"]}}],
    "bucket": "Music post",
    "valid_urls": ["https://youtu.be/jNQXAC9IVRw?t=5https://youtu.be/jNQXAC9IVRw?t=5", "https://example.org/"],
    "ground_truth": ["Reed", "Sedge"],
    "limited_gt": ["Reed"],
    "candidates": ["an", "older", "pool"],
    "final_candidates": ["Tarn", "Reed"],
}


def write(path: Path, *rows: Any) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.upstream
def test_every_place_names_one_file(upstream_file: Path) -> None:
    """The workflow, the reader and the data card mean the file that these tests read."""
    root = Path(__file__).parents[2]
    workflow = yaml.safe_load((root / ".github/workflows/tests.yml").read_text())["env"]
    digest = file_sha256(upstream_file)
    assert (workflow["MUSICRS_FILE"], workflow["MUSICRS_SHA256"]) == (HUB_FILE, digest)
    assert digest in (root / "docs/data_card.md").read_text()


def test_fields(tmp_path: Path) -> None:
    """Each published field lands where the record has it; the older pool is not read."""
    [thread] = read_upstream(write(tmp_path / "a.jsonl", ROW))
    assert thread == Thread(
        thread_id="t3_x",
        subreddit="postrock",
        genre="Indie",
        query="Something slow?",
        post="Slow things &amp; more",
        submission_entities=("Dawn",),
        comments=(Comment("t1_y", -2.0, Entities(songs=("Reed",), artists=("Oda",))),),
        candidates=("Tarn", "Reed"),
        ground_truth=("Reed",),
        all_entities=("Reed", "Sedge"),
        links=(Link("jNQXAC9IVRw", 5.0, ROW["valid_urls"][0]),),
        clips=None,
    )


def test_repairs_are_counted(tmp_path: Path) -> None:
    """A repaired link is counted, and one that is no video is named."""
    repairs = import_upstream(write(tmp_path / "a.jsonl", ROW)).repairs
    assert (repairs.doubled, repairs.glued, repairs.hidden) == (1, 0, 0)
    assert repairs.dropped == (("t3_x", "https://example.org/"),)
    assert "t3_x: https://example.org/" in str(repairs)


NONE: dict[str, list[str]] = {"songs": [], "artists": [], "albums": []}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"query": None}, "query is null, expected a string"),
        ({"name": ""}, "name is '', expected a string that is not empty"),
        ({"limited_gt": "Reed"}, "limited_gt is 'Reed', expected a list of strings"),
        ({"final_candidates": ["Tarn", 3005]}, r"final_candidates\[1\] is 3005, expected a string"),
        ({"source_subreddit": "polka"}, "source_subreddit is 'polka', expected one of classicalmusic"),
        ({"comments": [{"name": "t1_y", "score": 1}]}, r"comments\[0\]: no field 'entities'"),
        ({"comments": [{"name": "t1_y", "score": "1", "entities": {}}]}, r"comments\[0\], entities: no field 'songs'"),
        ({"comments": [{"name": "t1_y", "score": 10**400, "entities": NONE}]}, r"score is 1000+.*, expected a finite"),
        ({"comments": [["t1_y"]]}, r"comments\[0\] is a list of 1, expected an object"),
        ({"query": "\ud83d"}, "half of a character"),
    ],
)
def test_wrong_fields(tmp_path: Path, change: dict[str, Any], told: str) -> None:
    """A field of another form is told with file, line and name."""
    path = write(tmp_path / "a.jsonl", {**ROW, "name": "t3_w"}, {**ROW, **change})
    with pytest.raises(UserError, match=rf"a\.jsonl, line 2.*{told}"):
        read_upstream(path)


def test_missing_field(tmp_path: Path) -> None:
    """A field that is not there is named, beside some of those that are."""
    row = {name: value for name, value in ROW.items() if name != "limited_gt"}
    with pytest.raises(UserError, match=r"line 1: no field 'limited_gt'; found name, query"):
        read_upstream(write(tmp_path / "a.jsonl", row))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "no threads in it"),
        (b"\n \n", "no threads in it"),
        (b"[]\n", "line 1: found a list of 0, expected an object"),
        (json.dumps(ROW).encode()[:200], "line 1: not JSON .*cut off here"),
        (b'{"name": NaN}\n', "line 1: not JSON .*NaN"),
        (b"\xff\xfe{}\n", "not UTF-8 text"),
        (b"[" * 100_000, "line 1: not JSON"),
    ],
)
def test_broken_files(tmp_path: Path, content: bytes, told: str) -> None:
    """A file that is no JSON lines of threads is refused in one line."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    with pytest.raises(UserError, match=told) as caught:
        read_upstream(path)
    assert "\n" not in str(caught.value)


def test_same_thread_twice(tmp_path: Path) -> None:
    """An id that stands twice is refused, with the second line."""
    with pytest.raises(UserError, match="line 2: thread t3_x appears twice in the file"):
        read_upstream(write(tmp_path / "a.jsonl", ROW, ROW))


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("nowhere.jsonl", "no such file; expected the authors' JSONL file"),
        (".", "a directory; expected the authors' JSONL file"),
        ("a/b/c", "no such file"),
        (HUB_ID, f"HF_HUB_OFFLINE is set.*download {HUB_FILE} by hand"),
    ],
)
def test_sources_that_are_not_there(source: str, told: str) -> None:
    """A path or a Hub id that gives nothing is told apart and says what to do (the tests run offline)."""
    with pytest.raises(UserError, match=told):
        resolve_source(source)


def test_mini_is_a_toy() -> None:
    """The embedded dataset comes without a file, and without clips where none are asked for."""
    threads, about = resolve_source("mini", clips=False)
    assert about.toy
    assert len(threads) == 28
    assert all(thread.clips is None for thread in threads)


def test_published_file(upstream_file: Path, upstream_rows: list[dict[str, Any]]) -> None:
    """All published threads are read, with the labels, pools and texts of the raw file."""
    threads = read_upstream(upstream_file)
    assert [thread.thread_id for thread in threads] == [row["name"] for row in upstream_rows]
    for thread, row in zip(threads, upstream_rows, strict=True):
        assert list(thread.ground_truth) == row["limited_gt"]
        assert list(thread.all_entities) == row["ground_truth"]
        assert list(thread.candidates) == row["final_candidates"]
        assert (thread.query, thread.post) == (row["query"], row["combined_text"])
        assert [comment.id for comment in thread.comments] == [comment["name"] for comment in row["comments"]]
    assert Counter(thread.genre for thread in threads) == Counter(
        GENRE_OF_SUBREDDIT[row["source_subreddit"]] for row in upstream_rows
    )


def test_published_repairs(upstream_file: Path) -> None:
    """70 doubled, 32 glued, 5 hidden, and the one page that is no video is left out by name."""
    repairs = import_upstream(upstream_file).repairs
    assert (repairs.doubled, repairs.glued, repairs.hidden) == (70, 32, 5)
    assert [thread_id for thread_id, _ in repairs.dropped] == ["t3_269hs7"]
