"""Personal data in texts is found in every written form, is replaced on request, and music is left alone."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from musicrs_dataset.cli import app
from musicrs_dataset.loading import load_threads
from musicrs_dataset.personal import find_personal, personal_data, redact, redacted
from musicrs_dataset.records import Comment, Entities
from musicrs_dataset.validate import validate
from musicrs_metric.runs.references import load_references

from .support import TINY


@pytest.mark.parametrize(
    ("text", "kind", "what"),
    [
        ("u/ann_b", "account", "ann_b"), ("/u/ann_b", "account", "ann_b"), (r"U/Ann\_B", "account", "ann_b"),
        (r"u\/ann_b", "account", "ann_b"), (r"\/u\/ann_b", "account", "ann_b"), ("/user/ann-b", "account", "ann-b"),
        ("https://www.reddit.com/user/ann_b/comments/x1/a_title/", "account", "ann_b"),
        ("old.reddit.com/u/ann_b", "account", "ann_b"), ("https%3A%2F%2Freddit.com%2Fuser%2Fann_b", "account", "ann_b"),
        ("ann.b+x@mail.example.co.uk", "email", "ann.b+x@mail.example.co.uk"),
        (r"ann\_b@example.com", "email", "ann_b@example.com"),
        ("ann (at) example (dot) com", "email", "ann (at) example (dot) com"),
        ("+44 20 7946 0958", "telephone", "+442079460958"), ("(415) 555-2671", "telephone", "+14155552671"),
        ("415.555.2671", "telephone", "+14155552671"), ("+49 30 901820", "telephone", "+4930901820"),
        ("@ann_b", "handle", "ann_b"), ("\uff20ann_b", "handle", "ann_b"),
        ("ann\uff20mail.org", "email", "ann@mail.org"),
        ("r/u_ann_b", "account", "ann_b"), ("u/ann%5Fb", "account", "ann_b"),
        ("https://www.reddit.com/r/u_Ann_B/comments/x1/a_title/", "account", "ann_b"),
    ],
)  # fmt: skip
def test_forms(text: str, kind: str, what: str) -> None:
    """One address, number or name is one, however it is written, wherever it is; a second pass finds nothing."""
    for around in ("{}", "so {} there", "({})", "**{}**.", "{}, and", "\n{}\n", "この {} 曲"):
        written = around.format(text)
        (place,) = find_personal(written)
        assert (place.kind, place.value) == (kind, what)
        left = redact(written)
        assert text not in left
        assert find_personal(left) == []
        before, _, after = around.partition("{}")
        assert left.startswith(before)
        assert left.endswith(after)


@pytest.mark.parametrize(
    "text",
    [
        "2112, 5150, 1984-1999", "albums of 1999-2003, 1984 and 2020", "ISBN 978-3-16-148410-0", "4155552671",
        "P!nk @ 9",
        "N@tasha", "lou/reed, and I/u/we", "youtube.com/user/KEXPradio", "u/3f2a9c0d3f2a9c0d3f2a", "user/artist ratio",
        "https://youtu.be/4155552671A?t=4155552671", "the dot com bubble at its end", "R@dio 5", "op. 20 no. 4", "u/x",
    ],
)  # fmt: skip
def test_what_is_no_personal_data(text: str) -> None:
    """Years, titles, catalogue numbers, links to music, and pseudonyms of releases."""
    assert redact(text) == text


@given(st.text(max_size=200))
def test_any_text(text: str) -> None:
    """Places are in order and do not overlap."""
    places = find_personal(text)
    ends = [0, *(place.end for place in places)]
    assert all(end <= place.start < place.end for end, place in zip(ends, places, strict=False))


@pytest.mark.parametrize("piece", ["a@", "u/", "1 ", "a.", "@a", "a at ", "reddit.com/u/", "/user/", "x", "-"])
def test_time_is_linear(piece: str) -> None:
    """A text of 30 kB that is made to be slow is read in a time that a person does not notice."""
    redact(piece * (30_000 // len(piece)))


def test_a_thread() -> None:
    """Texts and names of entities are redacted; pools and ground truth are not."""
    named = Comment("t1_a", 1.0, Entities(artists=("u/ann_b", "Nina Simone")))
    asked = replace(TINY[0], query="as u/Ann_B says", post="write to ann@example.org", comments=(named,))
    left = redacted(asked)
    assert (left.query, left.post) == ("as [account] says", "write to [e-mail]")
    assert left.comments[0].entities.artists == ("[account]", "Nina Simone")
    assert replace(left, query=asked.query, post=asked.post, comments=asked.comments) == asked
    found = personal_data([asked])
    assert found.in_words() == "1 e-mail address, 1 in posts; 1 account name (u/name), 1 in entities, 1 in queries"
    assert [(one.name, one.count, one.where) for one in found.findings()] == [
        ("personal_email", 1, ("t3_a",)),
        ("personal_account", 2, ("t3_a",)),
    ]


@pytest.mark.figures
@pytest.mark.upstream
def test_the_published_file(upstream_file: Path, tmp_path: Path) -> None:
    """It holds ten names, one of them in a query: build says so, and replaces them only where that is asked for."""
    said, folders = [], []
    for name, options in (("plain", []), ("redacted", ["--redact"])):
        arguments = ["--from", str(upstream_file), "--out", str(tmp_path / name), "--no-install", *options]
        done = CliRunner().invoke(app, ["build", *arguments, "--config", "query_only"])
        assert done.exit_code == 0, done.output
        said.append(done.stderr)
        folders.append(tmp_path / name / "musicrs")
    names = "10 account names (u/name), 6 in entities, 4 in posts, 1 in queries"
    assert f"personal data in texts: {names}; --redact replaces it" in said[0]
    assert f"personal data in texts is replaced: {names}" in said[1]
    plain, other = (load_threads(folder, "query_only") for folder in folders)
    assert sum(one.query != two.query for one, two in zip(plain, other, strict=True)) == 1
    assert sum(one.post != two.post for one, two in zip(plain, other, strict=True)) == 3
    first, second = (load_references(folder, "query_only").fingerprint for folder in folders)
    assert first == second
    contents = [json.loads((folder / "manifest.json").read_text())["configs"] for folder in folders]
    assert contents[0]["query_only"] != contents[1]["query_only"]
    found = [[one.name for one in validate(folder).odd if one.name.startswith("personal")] for folder in folders]
    assert found == [["personal_account"], []]
