"""Which titles count as one: what a rule decides, what waits for a person, and the file between them."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder_scripts.extract.mentions import Kind
from builder_scripts.refine.merges import Merge, Spellings, propose, read_merges, write_merges
from builder_scripts.refine.spellings import likeness
from musicrs_metric.errors import UserError
from musicrs_metric.matching import normalise


@pytest.mark.parametrize(
    ("name", "other", "decision"),
    [
        ("Heart-Shaped Box", "heart shaped box", "merge"),
        ("Bjork", "Björk", "merge"),
        ("Smells Like Teen Sprit", "Smells Like Teen Spirit", "merge"),
        ("Paranoid Andriod", "Paranoid Android", "merge"),
        ("Dream", "Dreams", "keep"),
        ("Beautiful Dream", "Beautiful Dreams", "keep"),
        ("Let It Be Now", "Let It Be Not", "keep"),  # short words
        ("Daydreaming", "Day dreaming", "keep"),
        ("Symphony No. 5", "Symphony No. 6", None),
        ("Prelude in C minor", "Prelude in D minor", None),
        ("Prelude in C major", "Prelude in C minor", None),
        ("Sonata Op. 27", "Sonata Op. 2", None),
        ("Part II of the Suite", "Part III of the Suite", None),
        ("Naima", "So What", None),
        ("!!!", "???", None),
    ],
)
def test_what_is_merged_without_asking(name: str, other: str, decision: str | None) -> None:
    """The same words, or a slip of the pen in a long title; numbers, keys and plurals make other works."""
    found = likeness(name, other)
    assert (found and found.decision) == decision
    assert likeness(other, name) == found


def songs(**threads: int) -> dict[tuple[Kind, str], int]:
    return {("song", name.replace("_", " ")): n for name, n in threads.items()}


def test_the_more_frequent_spelling_stays() -> None:
    """The rarer is written as the commoner, whatever the alphabet says; short plurals wait for a person."""
    threads = songs(Paranoid_Android=5, Paranoid_Andriod=1, Dream=2, Dreams=9, Naima=4)
    assert list(propose(threads, [])) == [
        Merge("song", "Dream", "Dreams", 90.9, "keep"),
        Merge("song", "Paranoid Andriod", "Paranoid Android", 93.8, "merge"),
    ]
    spell = Spellings(threads, propose(threads, []))
    assert [spell("song", name) for name in ("Paranoid Andriod", "paranoid andriod", "Dream", "Unseen")] == [
        "Paranoid Android", "Paranoid Android", "Dream", "Unseen",
    ]  # fmt: skip


def test_one_normal_form_has_one_spelling() -> None:
    """Most threads decide, and of equals the one with capitals; kinds are apart."""
    threads: dict[tuple[Kind, str], int] = {
        ("song", "so what"): 3, ("song", "So What"): 3, ("song", "SO WHAT"): 1, ("album", "so what"): 1,
    }  # fmt: skip
    spell = Spellings(threads, [])
    assert [spell("song", name) for name in ("so what", "SO WHAT", '"So What"')] == ["So What"] * 3
    assert spell("album", "SO WHAT") == "so what"


def test_lines_of_the_rule_never_lead_to_another() -> None:
    """Three spellings of one title all become the commonest."""
    threads = songs(Paranoid_Android=5, Paranoid_Andriod=2, Paranoyd_Andriod=1)
    merges = list(propose(threads, []))
    assert {merge.into for merge in merges} == {"Paranoid Android"}


def test_the_file_comes_back_as_it_went(tmp_path: Path) -> None:
    """Commas, quotes, formulas and all; no cell of it is a formula to a spreadsheet."""
    merges = [
        Merge("song", 'Say "Yes", now', "Say Yes, Now", 95.5, "merge"),
        Merge("artist", "=HYPERLINK(1)", "+44", None, "keep"),
        Merge("album", "-Old Fires", "'Old Fires'", 90.0, "keep"),
    ]
    path = tmp_path / "merges.csv"
    write_merges(path, merges, {("song", "Say Yes, Now"): 3})
    assert read_merges(path) == merges
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["kind", "name", "as", "alike", "threads", "threads_as", "decision"]
    assert rows[0]["threads_as"] == "3"
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row.values())


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("name,as,decision\n", "no column 'kind'"),
        ("kind,name,as,decision\ntune,a,b,merge\n", "line 2: kind is 'tune', expected one of song, artist, album"),
        ("kind,name,as,decision\nsong,a,b,yes\n", "line 2: decision is 'yes', expected merge or keep"),
        ("kind,name,as,decision\nsong,a,b,keep\nsong, ,b,keep\n", "line 3: name is empty"),
        ("kind,name,as,decision\nsong,a,,keep\n", "line 2: as is empty"),
        ("kind,name,as,decision\nsong,a,b,keep\nsong,A,c,merge\n", "line 3: a second line about song 'A'"),
        ("kind,name,as,decision\nsong,a\n", "line 2: decision is null"),
    ],
)
def test_a_slip_in_the_file_is_told_by_its_line(tmp_path: Path, text: str, told: str) -> None:
    """Whoever edits it by hand learns what to mend."""
    (tmp_path / "merges.csv").write_text(text)
    with pytest.raises(UserError, match=told):
        read_merges(tmp_path / "merges.csv")


def test_a_file_that_is_no_csv_in_utf8(tmp_path: Path) -> None:
    """As some spreadsheets save it."""
    (tmp_path / "merges.csv").write_bytes("kind,name,as,decision\nsong,Caf\xe9,Cafe,keep\n".encode("latin-1"))
    with pytest.raises(UserError, match=r"merges.csv: not UTF-8 \(byte 30\); save it as CSV in UTF-8"):
        read_merges(tmp_path / "merges.csv")


def test_a_person_can_respell_a_title() -> None:
    """A line from a title to another spelling of the same normal form is no circle."""
    spell = Spellings(songs(so_what=3), [Merge("song", "so what", "So WHAT", None, "merge")])
    assert spell("song", "So what") == "So WHAT"


def test_a_circle_is_refused_and_a_chain_followed() -> None:
    """a as b, b as c makes c of a; c as a on top of it makes nothing at all."""
    chain = [Merge("song", "a", "b", None, "merge"), Merge("song", "b", "C", None, "merge")]
    assert Spellings({}, chain)("song", "A") == "C"
    with pytest.raises(UserError, match="circle at song"):
        Spellings({}, [*chain, Merge("song", "c", "a", None, "merge")])
    assert Spellings({}, [*chain, Merge("song", "c", "a", None, "keep")])("song", "c") == "C"


@given(
    st.dictionaries(
        st.tuples(st.sampled_from(["song", "artist"]), st.text("abcdeé -'", min_size=1, max_size=14)),
        st.integers(1, 9),
        max_size=12,
    )
)
def test_any_titles_end_in_one_stable_spelling(threads: dict[tuple[Any, str], int]) -> None:
    """Spelling what is spelled changes nothing, and a second look at the file proposes nothing."""
    threads = {key: n for key, n in threads.items() if normalise(key[1])}
    merges = list(propose(threads, []))
    spell = Spellings(threads, merges)
    for kind, name in threads:
        assert spell(kind, spell(kind, name)) == spell(kind, name)
    assert list(propose(threads, merges)) == []


def test_thousands_of_titles_are_compared_in_seconds() -> None:
    """Ten thousand distinct titles, as some hundreds of threads have."""
    import random
    import time

    letters = random.Random(1)
    titles = {"".join(letters.choices("abcdefghij   ", k=letters.randint(5, 25))).strip() or "x" for _ in range(10_000)}
    threads: Counter[tuple[Kind, str]] = Counter({("song", title): 1 for title in titles})
    began = time.monotonic()
    list(propose(threads, []))
    assert time.monotonic() - began < 60


def test_titles_that_look_like_formulas_come_back(tmp_path: Path) -> None:
    """Titles are written by strangers: none is a formula in the file, and each is read as it was."""
    names = ["=1+1", "'=1+1", "+44", "@x", "\uff1d1", "a;=b", "a;'=b", "\u3000=x", "a\r=1", "\t=1", "x\u2028y", "'74"]
    merges = [Merge("song", name, f"{name}!", 95.0, "keep") for name in names]
    path = tmp_path / "merges.csv"
    write_merges(path, merges, {})
    assert read_merges(path) == merges
    with path.open(encoding="utf-8", newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert not [cell for cell in cells if cell.lstrip().startswith(("=", "+", "-", "@", "\uff1d"))]
