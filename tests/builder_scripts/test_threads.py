"""Stage `threads`: the paper's filters and the rules beside them, row by row against the truth."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import ibis
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from builder_scripts.cli import app
from builder_scripts.layout import Work
from builder_scripts.manifest import StageManifest
from builder_scripts.threads import filters
from builder_scripts.threads.options import ThreadsOptions
from builder_scripts.threads.run import replies_schema, run, suspect_note, threads_schema
from musicrs_metric.errors import UserError

from .conftest import Made, mine
from .dumps import write_dump

pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table")  # how Ibis 12 asks DuckDB 2 for Arrow

Rows = Sequence[dict[str, Any]]

LINK = "https://youtu.be/VCLxJd1d84s"


def read(path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    return rows


def without_author(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in row.items() if key != "author"} for row in rows]


# The truth


def test_threads(made: Made, filtered: Work) -> None:
    """The threads that are kept are those that were written as such, in every column, links and starts included."""
    expected = sorted(made.truth.threads.values(), key=lambda thread: thread["thread_id"])
    found = read(filtered.threads)
    for thread in found:
        thread["links"] = [(link["video_id"], link["start_s"]) for link in thread["links"]]
    assert len(found) > 50
    assert without_author(found) == without_author(expected)


def test_replies(made: Made, filtered: Work) -> None:
    """So are the replies, the asker's own marked in dumps of all years."""
    expected = sorted(made.truth.replies.values(), key=lambda reply: (reply["thread_id"], reply["comment_id"]))
    found = read(filtered.replies)
    assert {reply["is_submitter"] for reply in found} == {False, True}
    assert without_author(found) == without_author(expected)


def test_authors(made: Made, filtered: Work) -> None:
    """Rows have the same pseudonym where they have the same author, and none where the account is gone."""
    true = made.truth.threads | made.truth.replies
    rows = read(filtered.replies) + read(filtered.threads)
    found = {row.get("comment_id", row["thread_id"]): row["author"] for row in rows}
    pairs = {(true[name]["author"], author) for name, author in found.items()}
    assert ("[deleted]", None) in pairs
    assert len(pairs) == len({name for name, _ in pairs}) == len({author for _, author in pairs})


def test_every_row_is_accounted_for(made: Made, filtered: Work) -> None:
    """Each row that was left out has the one reason that it was written with."""
    counts = StageManifest.read(filtered.silver, "threads").counts
    for kind, expected in made.truth.rows.items():
        assert {"kept": counts[kind].kept, **counts[kind].dropped} == dict(expected)
        assert counts[kind].add_up()
    assert set(filters.SUBMISSION_REASONS) == made.truth.rows["submissions"].keys() - {"kept"}
    assert set(filters.COMMENT_REASONS) == made.truth.rows["comments"].keys() - {"kept"}


def test_schemas(filtered: Work) -> None:
    """Silver has the columns that later stages are promised."""
    assert pq.read_schema(filtered.threads).equals(threads_schema())
    assert pq.read_schema(filtered.replies).equals(replies_schema())


def test_a_second_run_does_nothing(filtered: Work) -> None:
    """The same rules on the same rows are not applied again; other rules are."""
    before = filtered.threads.stat().st_mtime_ns
    assert run(filtered, ThreadsOptions())[1] is False
    assert filtered.threads.stat().st_mtime_ns == before


# The rules


def lines(*changes: Mapping[str, Any], kind: str) -> list[dict[str, Any]]:
    """Rows as mined, with what matters to a rule changed."""
    common = {
        "dump": "RS_1", "retrieved_on": None, "author": "a", "bot": False, "withdrawn": None, "thread_id": "t3_p",
    }  # fmt: skip
    own: dict[str, dict[str, Any]] = {
        "submissions": {"links": [{"video_id": "VCLxJd1d84s"}]},
        "comments": {
            "comment_id": "t1_c", "parent_id": "t3_p", "chars": 9, "stickied": False, "created_utc": 5, "score": 1,
            "is_submitter": None,
        },
    }  # fmt: skip
    return [{**common, **own[kind], "at": at, **change} for at, change in enumerate(changes)]


def verdicts(submissions: Rows, comments: Rows, rules: ThreadsOptions) -> list[str | None]:
    """Verdicts of the submissions, then of the comments."""
    schema = {
        "dump": "string", "at": "int64", "retrieved_on": "int64", "author": "string", "bot": "bool",
        "withdrawn": "string", "thread_id": "string",
    }  # fmt: skip
    of_submissions = schema | {"links": "array<struct<video_id: string>>"}
    of_comments = schema | {
        "comment_id": "string", "parent_id": "string", "chars": "int64", "stickied": "bool", "created_utc": "int64",
        "score": "int64", "is_submitter": "bool",
    }  # fmt: skip
    connection = ibis.duckdb.connect()
    tables = [
        connection.create_table(name, schema=ibis.schema(columns))
        for name, columns in (("s", of_submissions), ("c", of_comments))
    ]
    for name, rows, columns in (("s", submissions, of_submissions), ("c", comments, of_comments)):
        if rows:
            connection.insert(name, ibis.memtable([{key: row[key] for key in columns} for row in rows], schema=columns))
    by_form = filters.judge_submissions(tables[0], rules)
    by_thread = filters.judge_comments(tables[1], by_form, rules)
    answered = [filters.require_replies(table, by_thread, rules) for table in (by_form, by_thread)]
    found = [table.order_by("at").to_pyarrow().to_pylist() for table in answered]
    connection.disconnect()
    return [row["reason"] for rows in found for row in rows]


ALONE = ThreadsOptions(min_replies=1)


@pytest.mark.parametrize(
    ("copies", "counts"),
    [
        ([{"retrieved_on": 100}, {"retrieved_on": 300}, {"retrieved_on": 200}], 1),
        ([{"retrieved_on": None}, {"retrieved_on": 1}], 1),
        ([{"dump": "RS_2"}, {"dump": "RS_1"}], 0),
        ([{"retrieved_on": 5, "dump": "RS_2"}, {"retrieved_on": 5, "dump": "RS_1"}], 0),
        ([{}, {}], 1),
    ],
)
def test_copies(copies: Sequence[Mapping[str, Any]], counts: int) -> None:
    """The copy that was captured last counts; where that is not known, the last one by dump and place."""
    expected = ["duplicate"] * len(copies)
    expected[counts] = None  # type: ignore[call-overload]
    reply = lines({}, kind="comments")
    assert verdicts(lines(*copies, kind="submissions"), reply, ALONE)[:-1] == expected
    many = lines(*copies, kind="comments")
    assert verdicts(lines({}, kind="submissions"), many, ALONE)[1:] == expected


def test_deletions_are_respected() -> None:
    """What was taken back since is left out, with all that answers it; a switch keeps what was captured before."""
    copies = lines({"retrieved_on": 100}, {"retrieved_on": 200, "withdrawn": "marker"}, kind="submissions")
    reply = lines({}, kind="comments")
    assert verdicts(copies, reply, ALONE) == ["duplicate", "deleted", "thread_left_out"]
    assert verdicts(copies, reply, ThreadsOptions(min_replies=1, keep_deleted=True)) == [None, "duplicate", None]
    never = lines({"withdrawn": "marker"}, kind="submissions")
    assert verdicts(never, reply, ThreadsOptions(min_replies=1, keep_deleted=True)) == ["deleted", "thread_left_out"]


@pytest.mark.parametrize(
    ("withdrawn_at", "other_at", "reason"),
    [(100, 100, "deleted"), (None, 100, "deleted"), (None, None, "deleted"), (100, None, "deleted"), (100, 101, None)],
)
def test_a_withdrawal_is_final(withdrawn_at: int | None, other_at: int | None, reason: str | None) -> None:
    """Only a capture that is known to be later undoes it, whichever dump it is in."""
    for names in (("RS_1", "RS_2"), ("RS_2", "RS_1")):
        copies = lines(
            {"retrieved_on": withdrawn_at, "withdrawn": "marker", "dump": names[0]},
            {"retrieved_on": other_at, "dump": names[1]},
            kind="submissions",
        )
        counts = verdicts(copies, lines({}, kind="comments"), ALONE)[: len(copies)]
        assert counts == (["duplicate", None] if reason is None else [reason, "duplicate"])


@pytest.mark.parametrize("said", [True, None])
def test_replies_of_the_asker(said: bool | None) -> None:
    """They count among the three unless they are not to, are kept either way, and are known by name in old dumps."""
    thread = lines({"author": "a"}, kind="submissions")
    own = {"comment_id": "t1_own", "is_submitter": said, "author": "a"}
    others = [{"comment_id": f"t1_{n}", "author": "b", "is_submitter": False if said else None} for n in range(3)]
    two, three = lines(own, *others[:2], kind="comments"), lines(own, *others, kind="comments")
    assert verdicts(thread, two, ThreadsOptions()) == [None] * 4
    assert verdicts(thread, two, ThreadsOptions(asker_counts=False)) == ["few_replies"] * 4
    assert verdicts(thread, three, ThreadsOptions(asker_counts=False)) == [None] * 5


@pytest.mark.parametrize(
    ("change", "reason", "kept_by"),
    [
        ({"parent_id": "t1_other"}, "nested", {}),
        ({"withdrawn": "marker"}, "deleted", {}),
        ({"bot": True}, "bot", {"keep_bots": True}),
        ({"stickied": True}, "stickied", {"keep_stickied": True}),
        ({"chars": 4}, "short", {"min_chars": 4}),
        ({"chars": 5}, None, {}),
        ({"thread_id": "t3_gone", "parent_id": "t3_gone"}, "orphan", {}),
    ],
)
def test_replies_by_rule(change: Mapping[str, Any], reason: str | None, kept_by: dict[str, Any]) -> None:
    """Each rule leaves out what it says, and the switch that it has keeps that."""
    good = [{"comment_id": f"t1_{n}"} for n in range(3)]
    comments = lines(change, *good, kind="comments")
    submissions = lines({}, kind="submissions")
    assert verdicts(submissions, comments, ThreadsOptions()) == [None, reason, None, None, None]
    if kept_by:
        assert verdicts(submissions, comments, ThreadsOptions(**kept_by)) == [None] * 5


@pytest.mark.parametrize(
    ("change", "reason", "kept_by"),
    [
        ({"bot": True}, "bot", {"keep_bots": True}),
        ({"links": []}, "no_link", None),
        ({"withdrawn": "marker"}, "deleted", None),
    ],
)
def test_submissions_by_rule(change: Mapping[str, Any], reason: str, kept_by: dict[str, Any] | None) -> None:
    """A submission that is left out takes its comments with it."""
    reply = lines({}, kind="comments")
    assert verdicts(lines(change, kind="submissions"), reply, ALONE) == [reason, "thread_left_out"]
    if kept_by:
        assert verdicts(lines(change, kind="submissions"), reply, ThreadsOptions(min_replies=1, **kept_by)) == [
            None,
            None,
        ]


@pytest.mark.parametrize(("n", "kept"), [(2, False), (3, True)])
def test_three_replies(n: int, kept: bool) -> None:
    """A thread needs three replies that pass, by whomever; copies of one are one."""
    comments = lines(*({"comment_id": f"t1_{i}"} for i in range(n)), {"comment_id": "t1_0"}, kind="comments")
    reasons = verdicts(lines({}, kind="submissions"), comments, ThreadsOptions())
    assert reasons.count(None) == (n + 1) * kept
    assert reasons.count("few_replies") == (n + 1) * (not kept)
    assert reasons.count("duplicate") == 1


PUBLISHED = [
    {"id": "p1", "title": "Songs like this?", "selftext": LINK, "score": 10, "retrieved_on": 100},
    {"id": "c1", "link_id": "t3_p1", "parent_id": "t3_p1", "body": "Take Five", "score": 3},
    {"id": "p1", "title": "Songs like this?", "selftext": LINK, "score": 80, "retrieved_on": 200},
    {"id": "c1", "link_id": "t3_p1", "parent_id": "t3_p1", "body": "Take Five", "score": 7, "retrieved_on": 200},
    {"id": "c2", "link_id": "t3_p1", "parent_id": "t3_p1", "body": "[deleted]", "author": "[deleted]", "score": 9},
    {"id": "c3", "link_id": "t3_p1", "parent_id": "t3_p1", "body": "So What", "score": 4},
    {"id": "c4", "link_id": "t3_p1", "parent_id": "t3_p1", "body": "[removed]", "score": 1},
    {"id": "p1", "title": "Songs like this?", "selftext": "[removed]", "score": 79, "retrieved_on": 300},
    {"id": "c9", "link_id": "t3_gone", "parent_id": "t3_gone", "body": "orphan", "score": 2},
]


@pytest.mark.parametrize("keep_deleted", [False, True])
def test_duplicates_and_deletions(tmp_path: Path, keep_deleted: bool) -> None:
    """One conversation at most, each comment once with its last score, nothing deleted in it, orphans counted."""
    stamped = [{"subreddit": "jazz", "created_utc": 1_420_070_400 + n, **line} for n, line in enumerate(PUBLISHED)]
    written = [json.dumps(line).encode() + b"\n" for line in stamped]
    write_dump(tmp_path / "RS_1.zst", [line for line in written if b"link_id" not in line])
    write_dump(tmp_path / "RC_1.zst", [line for line in written if b"link_id" in line])
    work = Work(tmp_path / "work")
    mine([tmp_path], work)
    manifest, _ = run(work, ThreadsOptions(min_replies=2, keep_deleted=keep_deleted))
    assert manifest.counts["comments"].dropped["orphan"] == 1
    threads = [(thread["thread_id"], thread["score"]) for thread in read(work.threads)]
    replies = [(reply["comment_id"], reply["body"], reply["score"]) for reply in read(work.replies)]
    if keep_deleted:
        assert (threads, replies) == ([("t3_p1", 80)], [("t1_c1", "Take Five", 7), ("t1_c3", "So What", 4)])
    else:
        assert (threads, replies) == ([], [])
        assert manifest.counts["submissions"].dropped == {"duplicate": 2, "deleted": 1}


# Months


def test_months() -> None:
    """Days add up to months of UTC, and a month is suspect where most of many scores are 1."""
    days = [(17_804, 20, 12), (17_834, 20, 11), (17_835, 40, 20), (17_866, 29, 29)]  # 2018-09-30 to 2018-12-01
    assert suspect_note(days) == "most replies have a score of 1, perhaps captured too early, in 2018-10 (31 of 60)"
    assert suspect_note(days[:1]) is None
    more = [(17_866, 30, 16), (17_835, 30, 15), (17_804, 1_000, 501)]
    assert str(suspect_note(more)).endswith("in 2018-09 (501 of 1,000), 2018-12 (16 of 30)")


def test_suspect_months_are_told(tmp_path: Path) -> None:
    """The command and the manifest name months whose scores were captured too early."""
    rng = random.Random(0)
    post = {"id": "p", "subreddit": "jazz", "title": LINK, "created_utc": 1_538_400_000}
    comments = [
        {"id": f"c{n}", "subreddit": "jazz", "link_id": "t3_p", "parent_id": "t3_p", "body": "So What", "score": score,
         "created_utc": when + rng.randint(0, 10**6)}
        for n, (score, when) in enumerate([(1, 1_538_400_000)] * 40 + [(2, 1_543_700_000)] * 40)
    ]  # fmt: skip
    write_dump(tmp_path / "RS_1.zst", [json.dumps(post).encode() + b"\n"])
    write_dump(tmp_path / "RC_1.zst", [json.dumps(comment).encode() + b"\n" for comment in comments])
    mine([tmp_path], Work(tmp_path / "work"))
    told = CliRunner().invoke(app, ["threads", "--work", str(tmp_path / "work")])
    assert told.exit_code == 0, told.output
    assert "80 comments -> 80 replies" in told.output
    assert "in 2018-10 (40 of 40)" in told.output
    assert StageManifest.read(Work(tmp_path / "work").silver, "threads").notes[0] in told.output


# Mistakes


def test_nothing_mined(tmp_path: Path) -> None:
    """Without mined rows the command to run first is told."""
    with pytest.raises(UserError, match="mine` to its end first"):
        run(Work(tmp_path), ThreadsOptions())


def test_one_kind_is_missing(tmp_path: Path) -> None:
    """Submissions without comments are no conversations."""
    write_dump(tmp_path / "RS_1.zst", [b"{}\n"])
    mine([tmp_path], Work(tmp_path / "work"))
    with pytest.raises(UserError, match="no comments were mined"):
        run(Work(tmp_path / "work"), ThreadsOptions())


def test_rows_are_gone(tmp_path: Path) -> None:
    """A mined file that is gone is named."""
    for name in ("RS_1.zst", "RC_1.zst"):
        write_dump(tmp_path / name, [b"{}\n"])
    work = Work(tmp_path / "work")
    mine([tmp_path], work)
    (work.comments / "RC_1.parquet").unlink()
    with pytest.raises(UserError, match=r"RC_1\.parquet: no such file"):
        run(work, ThreadsOptions())


def test_no_rows_at_all(tmp_path: Path) -> None:
    """Dumps without a wanted line give two empty tables, not an error."""
    for name in ("RS_1.zst", "RC_1.zst"):
        write_dump(tmp_path / name, [b'{"subreddit":"pics","id":"a"}\n'])
    work = Work(tmp_path / "work")
    mine([tmp_path], work)
    manifest, _ = run(work, ThreadsOptions())
    assert [counts.to_dict() for counts in manifest.counts.values()] == [{"in": 0, "kept": 0, "dropped": {}}] * 2
    assert pq.read_schema(work.threads).equals(threads_schema())


def test_a_master_for_duckdb(filtered: Work) -> None:
    """An address of a cluster without Spark is a mistake."""
    told = CliRunner().invoke(app, ["threads", "--work", str(filtered.root), "--min-replies", "9", "--master", "x"])
    assert isinstance(told.exception, UserError)
    assert "add --engine spark" in str(told.exception)
