"""Rows from lines of any year: one type per column, one form of id, texts that can be stored, authors without names."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder_scripts.mine.authors import Pseudonyms, author_salt, is_bot
from builder_scripts.mine.dumps import Kind
from builder_scripts.mine.parsing import parse, plain_text, repair, whole_number
from builder_scripts.mine.rows import MAKE_ROW, bronze_schema
from musicrs_metric.errors import UserError

NOW = 1_735_689_600  # 1 January 2025
AUTHORS = Pseudonyms(bytes(range(32)))


def row(kind: Kind, **fields: Any) -> dict[str, Any] | None:
    """The row of a line that has what every line has, and these fields."""
    line: dict[str, Any] = {"id": "a1", "subreddit": "Jazz", "created_utc": NOW}
    if kind == "comments":
        line |= {"link_id": "t3_p1", "parent_id": "t3_p1"}
    made = MAKE_ROW[kind](line | fields, AUTHORS)
    return None if made is None else dict(zip(bronze_schema(kind).names[2:], made, strict=True))


def value(kind: Kind, column: str, **fields: Any) -> Any:
    made = row(kind, **fields)
    assert made is not None
    return made[column]


@pytest.mark.parametrize(
    ("given_as", "number"),
    [
        (1330560000, 1330560000), ("1330560000", 1330560000), (1330560000.0, 1330560000), ("1.5", 1), (-3, -3),
        (None, None), (True, None), ("", None), ("soon", None), ("nan", None), (float("inf"), None), ([], None),
        (2**63, None), (2**63 - 1, 2**63 - 1), ("1e400", None),
    ],
)  # fmt: skip
def test_numbers(given_as: object, number: int | None) -> None:
    """Times and scores come as numbers and as text; what is no 64-bit number is none."""
    assert whole_number(given_as) == number


@pytest.mark.parametrize(
    ("line", "text", "repaired"),
    [
        (b'{"t":"\\ud83c\\udfb7"}', "🎷", False),
        (b'{"t":"\\ud83d alone"}', "\ufffd alone", True),
        (b'{"t":"\\udfb7\\ud83c"}', "\ufffd\ufffd", True),
        (b'{"t":"raw \x01\t"}', "raw \x01\t", True),
        (b'{"t":"byte \xff"}', "byte \ufffd", True),
        (b'{"t":"nul \\u0000."}\r', "nul .", False),
        (b'{"t":"Q&amp;A &lt;3 &gt; &amp;lt; &eacute;"}', "Q&A <3 > &lt; &eacute;", False),
        (b'{"t":null}', "", False),
        (b'{"t":5}', "", False),
    ],
)
def test_texts(line: bytes, text: str, repaired: bool) -> None:
    """A text keeps all that a file can hold, and Reddit's three escapes are undone once."""
    value = (repair if repaired else parse)(line)
    assert value is not None
    assert plain_text(value["t"]) == text
    assert not repaired or parse(line) is None


@pytest.mark.parametrize(
    "line", [b"", b"[1]", b"7", b'{"a":', b"\x00\x00", b'{"a":1}{"b":2}', b'{"a":' + b"[" * 200_000]
)
def test_no_object(line: bytes) -> None:
    """A line without an object has no value, however deep it is nested."""
    assert parse(line) is None
    assert repair(line) is None


@given(st.text(st.characters(codec=None), max_size=30))
def test_any_text_can_be_stored(text: str) -> None:
    """Whatever escapes a dump holds, what is left can be written as UTF-8."""
    assert "\0" not in plain_text(text).encode().decode()


def test_ids() -> None:
    """Ids bear Reddit's prefix, whether or not the dump has it."""
    for name in ("a1", "t3_a1"):
        assert value("submissions", "thread_id", id=name) == "t3_a1"
    for name, thread in (("a1", "p1"), ("t1_a1", "t3_p1")):
        made = row("comments", id=name, link_id=thread)
        assert made is not None
        assert (made["comment_id"], made["thread_id"]) == ("t1_a1", "t3_p1")


@pytest.mark.parametrize(
    "fields",
    [
        {"id": None}, {"id": ""}, {"id": 7}, {"id": "t3_a1"}, {"created_utc": None}, {"link_id": None}, {"link_id": ""},
        {"parent_id": ""}, {"parent_id": True}, {"parent_id": -4}, {"parent_id": 1.5}, {"parent_id": []},
        {"title": "A post", "selftext": ""},
    ],
)  # fmt: skip
def test_malformed_comments(fields: dict[str, Any]) -> None:
    """A comment that lacks its id, time, thread or parent is no row, and neither is a submission."""
    assert row("comments", **fields) is None


def test_a_comment_without_the_field_of_its_parent() -> None:
    """Null says that it answers the post; a field that is not there says nothing."""
    line = {"id": "a1", "subreddit": "jazz", "created_utc": NOW, "link_id": "t3_p1", "body": "So What"}
    assert MAKE_ROW["comments"](line, AUTHORS) is None
    assert MAKE_ROW["comments"](line | {"parent_id": None}, AUTHORS) is not None


@pytest.mark.parametrize(
    "fields",
    [
        {"link_id": "t3_p1", "parent_id": "t3_p1", "body": "a reply"}, {"parent_id": "t1_x"}, {"link_id": 7},
        {"body": "a reply", "parent_id": None}, {"id": "t1_a1"},
    ],
)  # fmt: skip
def test_comments_among_submissions(fields: dict[str, Any]) -> None:
    """A comment in a file of submissions is no post, whatever its id."""
    assert row("submissions", **fields) is None


def test_columns_of_both_kinds() -> None:
    """Tables that hold both kinds have empty columns of the other one."""
    nothing = {"link_id": None, "parent_id": float("nan"), "body": None}
    assert row("submissions", title="A post", **nothing) is not None
    for blank in ("", "nan", "null", "None"):  # written as text
        assert row("submissions", title="A post", link_id=blank, parent_id=blank) is not None
    assert row("comments", body="a reply", title=None, selftext=None) is not None


@pytest.mark.parametrize(
    ("parent", "name"),
    [
        (None, "t3_hab0000"), (float("nan"), "t3_hab0000"), ("t3_hab0000", "t3_hab0000"), ("hab0000", "t3_hab0000"),
        ("t1_hab0001", "t1_hab0001"), ("hab0001", "t1_hab0001"), ("tab0001", "t1_tab0001"), ("12345", "t1_12345"),
        (37628437249, "t1_hab0001"), (37628437249.0, "t1_hab0001"), ("37628437249", "t1_hab0001"),
        (37628437248, "t3_hab0000"), (35, "t1_z"), (36, "t1_10"),
        ("t1_hab0000", "t1_hab0000"), ("37628437249.0", "t1_hab0001"), ("null", "t3_hab0000"), ("NaN", "t3_hab0000"),
    ],
)  # fmt: skip
def test_parents(parent: object, name: str) -> None:
    """A parent is a name, an id, a number in base 10 (37628437248 is hab0000 in base 36), or null for the post."""
    assert value("comments", "parent_id", link_id="t3_hab0000", parent_id=parent) == name
    assert value("comments", "thread_id", link_id=37628437248, parent_id=parent) == "t3_hab0000"


@pytest.mark.parametrize(
    ("given_as", "when"),
    [
        (NOW, NOW), (str(NOW), NOW), (NOW + 0.9, NOW), (f"{NOW}.5", NOW), (NOW * 1_000, NOW), (NOW * 1_000 + 999, NOW),
        (str(NOW * 1_000), NOW), (NOW * 1e3, NOW), (NOW * 1_000_000 + 7, NOW), (NOW * 10**9, NOW),
        ("2025-01-01 00:00:00 UTC", NOW), ("2025-01-01T00:00:00Z", NOW), ("2025-01-01 00:00:00", NOW),
        ("2025-01-01T01:00:00+01:00", NOW),
        (-NOW, None), (0, None), (5, None), (-1, None), (NOW * 2, None), (NOW * 10, None), (NOW * 10**12, None),
        ("1e400", None), (True, None), (None, None), ("soon", None), ([], None), (float("inf"), None),
    ],
)  # fmt: skip
def test_times(given_as: object, when: int | None) -> None:
    """Times come in seconds and in parts of them; what is before Reddit or in the future is no time."""
    for kind in ("submissions", "comments"):
        found = row(kind, created_utc=given_as)
        assert (found and found["created_utc"]) == when


@pytest.mark.parametrize(
    ("given_as", "is_true"),
    [
        (True, True),
        (False, False),
        (1, True),
        (0.0, False),
        ("true", True),
        ("False", False),
        ("1.0", True),
        (None, None),
    ],
)
def test_truth_values(given_as: object, is_true: bool | None) -> None:
    """Tables write them as numbers and as text."""
    assert value("comments", "is_submitter", is_submitter=given_as) is is_true
    assert value("comments", "stickied", stickied=given_as) is bool(is_true)


@pytest.mark.parametrize(
    ("body", "chars"), [("12345", 5), ("  ab \n", 2), ("😀😀😀", 3), ("\u3000ab\u3000", 2), ("&lt;3 all", 6), (None, 0)]
)
def test_length(body: str | None, chars: int) -> None:
    """Length counts code points as a reader sees them, without blanks around."""
    assert value("comments", "chars", body=body) == chars


@pytest.mark.parametrize(
    ("fields", "time"),
    [
        ({}, None), ({"retrieved_on": "8"}, 8), ({"retrieved_on": 8, "_meta": {"retrieved_2nd_on": 9}}, 9),
        ({"retrieved_on": 8, "updated_on": 10.0}, 10), ({"retrieved_utc": 7, "_meta": None}, 7),
        ({"retrieved_on": NOW * 1_000}, NOW), ({"retrieved_on": 8, "updated_on": "soon"}, 8),
        ({"updated_on": -8}, None),
    ],
)  # fmt: skip
def test_capture_time(fields: dict[str, Any], time: int | None) -> None:
    """The latest time of capture counts, under whichever name."""
    assert value("comments", "retrieved_on", **fields) == time


def test_links_of_all_fields() -> None:
    """A video in the title, the text, the address or the player is a link, in that order."""
    ids = [f"{name:A<10}A" for name in ("title", "text", "url", "player")]
    urls = [f"https://youtu.be/{name}" for name in ids]
    player = {"oembed": {"html": f'&lt;iframe src="{urls[3]}?feature=oembed"&gt;'}}
    fields = {"title": urls[0], "selftext": urls[1], "url": urls[2]}
    for media in ({"secure_media": player}, {"secure_media": None, "media": player}):
        links = value("submissions", "links", **fields, **media)
        assert [link.video_id for link in links] == ids


@pytest.mark.parametrize(
    ("name", "bot"),
    [
        ("AutoModerator", True), ("automoderator", True), ("lyrics_bot", True), ("LyricsBot", True), ("bot-9", True),
        ("bot", True), ("sneakpeekbot", True), ("talbot", False), ("Abbott", False), ("robotnik", False),
        ("Botticelli", False), ("[deleted]", False), (None, False),
    ],
)  # fmt: skip
def test_bots(name: str | None, bot: bool) -> None:
    """Accounts that call themselves bots are, and people's names with these letters are not."""
    assert is_bot(name) is bot


def test_pseudonyms() -> None:
    """One author, one pseudonym in any case; another salt, another one; no account, none."""
    one, again, other = (AUTHORS.of(name) for name in ("ann_b", "Ann_B", "ann-b"))
    assert one == again != other
    assert one != Pseudonyms(bytes(32)).of("ann_b")
    assert [AUTHORS.of(name) for name in (None, "[deleted]", "[Removed]", "", 3)] == [None] * 5


def test_salt(tmp_path: Path) -> None:
    """The salt is random, is made once, and nobody else may read it."""
    path, other = tmp_path / "private" / "salt", tmp_path / "other" / "salt"
    salt = author_salt(path)
    assert author_salt(path) == salt != author_salt(other)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    path.write_text("0123")
    with pytest.raises(UserError, match="hexadecimal"):
        author_salt(path)
