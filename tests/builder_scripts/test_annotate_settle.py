"""From votes to labels: what all agree on, what a person settles in a spreadsheet, and what stays open."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder_scripts.annotate.disagreements import (
    Disagreement,
    disagreements,
    read_decisions,
    write_disagreements,
)
from builder_scripts.annotate.judgement import Judgement
from builder_scripts.annotate.settle import settle
from builder_scripts.annotate.votes import Question, QuestionVotes, assemble, collect_votes, decisions_of
from builder_scripts.annotate.worklist import CATEGORIES
from musicrs_metric.errors import UserError

from .annotate_toy import OTHER_VIDEO, item, judged, video

THREAD = item(0)
NEW = f"https://www.youtube.com/watch?v={OTHER_VIDEO}"


def votes(**judgements: Judgement) -> list[QuestionVotes]:
    """Ballots on the first thread."""
    return collect_votes([THREAD], {name: {THREAD.thread_id: judgement} for name, judgement in judgements.items()})


def question(about: str, subject: str = "") -> Question:
    return Question(THREAD.thread_id, about, subject)  # type: ignore[arg-type]


@given(
    category=st.sampled_from(CATEGORIES), links=st.text("yn", min_size=2, max_size=2),
    entities=st.text("yn", min_size=3, max_size=3), instead=st.sampled_from([{}, {1: NEW + "&t=5"}]),
    more_links=st.sampled_from(["", f"youtu.be/{video(77)}?t=9\nyoutu.be/{video(78)}"]),
    more_entities=st.sampled_from(["", "song: É =1\nartist: x: y"]), query=st.sampled_from([THREAD.query, "-a b"]),
)  # fmt: skip
def test_a_single_judgement_settles_as_it_is(**said: object) -> None:
    """Taken apart and put together again, a judgement is the same; so one annotator's are the labels."""
    judgement = judged(THREAD, **said)  # type: ignore[arg-type]
    if judgement.category != "music":  # what is not music keeps the derived query
        judgement = replace(judgement, query=THREAD.query)
    assert assemble(THREAD, decisions_of(judgement), 1) == judgement
    assert settle([THREAD], votes(Ann=judgement), {}) == [judgement]


def test_what_is_asked() -> None:
    """Category, links, entities, additions of one of two, and the query; the same on both sides is not asked."""
    found = disagreements(
        votes(
            Ann=judged(THREAD, links="yn", entities="yyn", more_links=NEW, more_entities="song: New", query="a"),
            Bob=judged(THREAD, links="nn", instead={1: NEW + "&t=5"}, entities="yny", query="b"),
        )
    )
    assert {one.question: dict(one.choices) for one in found} == {
        question("link", video(0)): {"valid": 1, "invalid": 1},
        question("link", video(1)): {"invalid": 1, f"{NEW}&t=5s": 1},
        question("added link", OTHER_VIDEO): {NEW: 1, "leave out": 1},
        question("entity", "song: Song 0.1"): {"relevant": 1, "irrelevant": 1},
        question("entity", "song: Song 0.2"): {"relevant": 1, "irrelevant": 1},
        question("added entity", "song: new"): {"song: New": 1, "leave out": 1},
        question("query"): {"a": 1, "b": 1},
    }


def test_spellings_of_an_addition_are_one_question() -> None:
    """Two people who add the same title in different letters differ in its spelling only."""
    (one,) = disagreements(
        votes(Ann=judged(THREAD, more_entities="song: New"), Bob=judged(THREAD, more_entities="Song: NEW"))
    )
    assert dict(one.choices) == {"song: New": 1, "song: NEW": 1}


def test_who_judged_no_music_has_no_vote_on_additions() -> None:
    """To leave something out one must have looked for it: the two who did agree, and the third differs in category."""
    adding = judged(THREAD, more_links=NEW, more_entities="song: New")
    other = replace(judged(THREAD, "other"), links=(), entities=())
    found = disagreements(votes(Ann=adding, Bob=other, Cid=adding))
    assert [one.question.about for one in found] == ["category"]


def test_what_is_not_music_is_asked_nothing_more() -> None:
    """Threads that nobody takes for music go no further, whatever else was ticked."""
    one, other = judged(THREAD, "other", links="yn"), judged(THREAD, "pop culture", links="nn")
    assert disagreements(votes(Ann=one, Bob=one)) == []
    assert [found.question.about for found in disagreements(votes(Ann=one, Bob=other))] == ["category"]


def test_majority() -> None:
    """More than half decides; a tie decides nothing."""
    yes, no = judged(THREAD, entities="yyy"), judged(THREAD, entities="nyy")
    (label,) = settle([THREAD], votes(Ann=no, Bob=yes, Cid=no), {}, majority=True)
    assert [entity.verdict for entity in label.entities] == ["irrelevant", "relevant", "relevant"]
    assert label.judges == 3
    with pytest.raises(UserError, match="1 disagreement not settled, in t3_0000"):
        settle([THREAD], votes(Ann=no, Bob=yes), {}, majority=True)
    with pytest.raises(UserError, match="1 disagreement not settled"):
        settle([THREAD], votes(Ann=no, Bob=yes, Cid=no), {})


def test_a_person_overrules_the_majority() -> None:
    """What is settled by hand counts before the majority."""
    given_votes = votes(Ann=judged(THREAD, "other"), Bob=judged(THREAD), Cid=judged(THREAD))
    (label,) = settle([THREAD], given_votes, {question("category"): "other"}, majority=True)
    assert label.category == "other"


def test_a_thread_settled_as_something_else_leaves_the_rest_open() -> None:
    """Who settles the category as not music need not settle its links."""
    given_votes = votes(
        Ann=judged(THREAD, links="yy"), Bob=judged(THREAD, links="nn"), Cid=judged(THREAD, "other", links="yy")
    )
    (label,) = settle([THREAD], given_votes, {question("category"): "other"})
    assert label.category == "other"


def test_music_that_nobody_judged_as_such() -> None:
    """Settling as music what no annotator judged as music is refused: its links have no verdict."""
    one = replace(judged(THREAD, "other"), links=(), entities=())
    two = replace(one, category="pop culture")
    with pytest.raises(UserError, match="settled as music, but no annotator judged"):
        settle([THREAD], votes(Ann=one, Bob=two), {question("category"): "music"})


def edit(path: Path, change: Callable[[dict[str, str]], None], delimiter: str = ",") -> None:
    """Fill in the file as a spreadsheet would, and save it with its separator."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        change(row)
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        lines.writeheader()
        lines.writerows(rows)


@pytest.fixture
def found() -> list[Disagreement]:
    return disagreements(
        votes(
            Ann=judged(THREAD, links="yy", entities="yyy", query="=SUM(1)", more_entities="song: New"),
            Bob=judged(THREAD, links="ny", entities="nyy", query="other, query", more_links=NEW),
        )
    )


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_a_settled_file(tmp_path: Path, found: list[Disagreement], delimiter: str) -> None:
    """Numbers of choices and answers of one's own; what is left empty stays open."""
    path = tmp_path / "disagreements.csv"
    write_disagreements(path, found, [THREAD])
    settled = {
        "link": f" youtu.be/{video(55)}?t=7 ",
        "entity": "Irrelevant",
        "query": "1",
        "added entity": "album: Newer",
        "added link": "",
    }
    edit(path, lambda row: row.update(settled=settled[row["question"]]), delimiter)
    assert read_decisions(path, found) == {
        question("link", video(0)): f"https://www.youtube.com/watch?v={video(55)}&t=7s",
        question("entity", "song: Song 0.0"): "irrelevant",
        question("query"): "=SUM(1)",
        question("added entity", "song: new"): "album: Newer",
    }


def test_choices_are_numbered_and_counted(tmp_path: Path, found: list[Disagreement]) -> None:
    """The file tells what can be chosen, without names."""
    write_disagreements(tmp_path / "d.csv", found, [THREAD])
    text = (tmp_path / "d.csv").read_text(encoding="utf-8-sig")
    assert "1: invalid (1)\n2: valid (1)" in text
    assert "Ann" not in text
    assert "Music like number 0" in text


@pytest.mark.parametrize(
    ("about", "settled", "message"),
    [
        ("link", "maybe", "expected the number of a choice, valid, invalid or a YouTube URL"),
        ("link", "3", "settled is '3'"),
        ("entity", "yes", "expected the number of a choice, relevant or irrelevant"),
        ("added entity", "Newer", "leave out or an entity as kind: name"),
        ("added link", "https://vimeo.com/1", "leave out or a YouTube URL"),
    ],
)
def test_what_cannot_be_an_answer(
    tmp_path: Path, found: list[Disagreement], about: str, settled: str, message: str
) -> None:
    """A decision that the question cannot have is told with its line."""
    path = tmp_path / "d.csv"
    write_disagreements(path, found, [THREAD])
    edit(path, lambda row: row.update(settled=settled if row["question"] == about else ""))
    with pytest.raises(UserError, match=r"d\.csv, line \d+: ") as error:
        read_decisions(path, found)
    assert message in str(error.value)


def test_decisions_on_other_answers_are_refused(tmp_path: Path, found: list[Disagreement]) -> None:
    """Where somebody has changed an answer since, the row is about something else."""
    path = tmp_path / "d.csv"
    write_disagreements(path, found, [THREAD])
    edit(path, lambda row: row.update(settled="1"))
    changed = [one._replace(choices=(("relevant", 2), ("corrected", 1))) for one in found]
    with pytest.raises(UserError, match="is no disagreement of the answers as they are now; run agree again"):
        read_decisions(path, changed)


def test_files_that_are_none(tmp_path: Path) -> None:
    """A missing file, a missing column and another encoding are told in words."""
    with pytest.raises(UserError, match="no such file"):
        read_decisions(tmp_path / "none.csv", [])
    (tmp_path / "a.csv").write_text("row,answer\n", encoding="utf-8")
    with pytest.raises(UserError, match="no column settled"):
        read_decisions(tmp_path / "a.csv", [])
    (tmp_path / "b.csv").write_bytes("row,settled\nÄ,1\n".encode("latin-1"))
    with pytest.raises(UserError, match="save it as CSV UTF-8"):
        read_decisions(tmp_path / "b.csv", [])


def test_row_names_are_no_numbers(found: list[Disagreement]) -> None:
    """A spreadsheet would turn 12e5 into 1200000."""
    assert all(one.row.startswith("q-") for one in found)
    assert len({one.row for one in found}) == len(found)


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1e", "\n", "\r\n"])
@pytest.mark.parametrize("end", ["\r\n", "\n"])
def test_line_separators_in_titles(tmp_path: Path, separator: str, end: str) -> None:
    """A decision about a thread whose title holds one is read from the file as a spreadsheet saves it (case R23)."""
    choices = (("relevant", 1), ("irrelevant", 1))
    disagreement = Disagreement(Question(THREAD.thread_id, "entity", "song: Amber Road"), choices)
    path = tmp_path / "disagreements.csv"
    write_disagreements(path, [disagreement], [replace(THREAD, title=f"Songs{separator}like this?")])
    header, row = csv.reader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline=""))
    saved = io.StringIO()
    csv.writer(saved, lineterminator=end).writerows([header, [*row[:-1], "2"]])
    path.write_bytes(saved.getvalue().encode("utf-8-sig"))
    assert read_decisions(path, [disagreement]) == {disagreement.question: "irrelevant"}
