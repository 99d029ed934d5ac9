"""What people decided is put into effect: answers, links, titles, and which threads are left."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pydantic import ValidationError

from builder_scripts.annotate.judgement import JudgedEntity, JudgedLink, Judgement
from builder_scripts.pools.apply_labels import AnswerLimits, LabelledCorpus, apply_labels
from builder_scripts.pools.options import PoolsOptions
from builder_scripts.refine.schema import Answer, CorpusThread
from musicrs_dataset.pools import Design
from musicrs_dataset.records import Comment, Entities, Link
from musicrs_metric.errors import UserError

RULES = AnswerLimits(min_answers=2, top=3)
LINK = Link("jNQXAC9IVRw", 0.0, "https://youtu.be/jNQXAC9IVRw")
KEPT = JudgedLink("valid", LINK.video_id, 0.0, LINK.url, LINK.video_id)
REPLIES = {"t1_a": "Try One, or Two", "t1_b": "Three and Four", "t1_c": "Five! And the live take of Six"}


def thread() -> CorpusThread:
    """Five answers in three replies, of which the first three are the ground truth."""
    names = {"t1_a": ("One", "Two"), "t1_b": ("Three", "Four"), "t1_c": ("Five",)}
    scores = {"t1_a": 9.0, "t1_b": 5.0, "t1_c": None}
    answers = [Answer("song", name, scores[reply], reply) for reply, own in names.items() for name in own]
    return CorpusThread(
        thread_id="t3_x", subreddit="jazz", genre="Jazz", created_utc=0, score=1, query="Slow songs, please",
        post="Slow songs?\n\nI know Naima.", submission_entities=Entities(songs=("Naima",)),
        comments=tuple(Comment(reply, scores[reply], Entities(songs=own)) for reply, own in names.items()),
        answers=tuple(answers), ground_truth=("One", "Two", "Three"),
        all_entities=tuple(answer.name for answer in answers), links=(LINK,),
    )  # fmt: skip


def label(**said: object) -> Judgement:
    """A judgement that changes nothing but what is said."""
    entities = tuple(JudgedEntity("relevant", "song", answer.name) for answer in thread().answers)
    plain = Judgement("t3_x", "music", thread().query, (KEPT,), entities)
    return replace(plain, **said)  # type: ignore[arg-type]


def settled(judgement: Judgement | None, rules: AnswerLimits = RULES) -> LabelledCorpus:
    return apply_labels([thread()], {"t3_x": judgement} if judgement else {}, REPLIES, rules)


def entities(struck: str = "", added: str = "") -> tuple[JudgedEntity, ...]:
    kept = [
        JudgedEntity("irrelevant" if answer.name in struck.split() else "relevant", "song", answer.name)
        for answer in thread().answers
    ]
    return (*kept, *(JudgedEntity("added", "song", name) for name in added.split()))


def test_nothing_changed() -> None:
    """A thread that everybody agrees with stays as it is."""
    assert settled(label()).threads == [thread()]


def test_struck_out() -> None:
    """What is struck out is gone from every list, and the next answers move up."""
    (found,) = settled(label(entities=entities(struck="Two Naima"))).threads
    assert found.ground_truth == ("One", "Three", "Four")
    assert found.all_entities == ("One", "Three", "Four", "Five")
    assert found.comments[0].entities.songs == ("One",)
    asked = (*entities(), JudgedEntity("irrelevant", "song", "Naima"))
    assert settled(label(entities=asked)).threads[0].submission_entities == Entities()


def test_added() -> None:
    """A title stands with the best reply that names it, behind that reply's own; last of all where none does."""
    rules = AnswerLimits(2, 10)
    (found,) = settled(label(entities=entities(added="Six Seven")), rules).threads
    assert [answer.name for answer in found.answers] == ["One", "Two", "Three", "Four", "Five", "Six", "Seven"]
    assert found.answers[-2] == Answer("song", "Six", None, "t1_c")
    assert found.answers[-1] == Answer("song", "Seven", None, "t3_x")
    assert found.all_entities[-2:] == ("Six", "Seven")
    (found,) = settled(label(entities=entities(struck="Two", added="Or")), rules).threads
    assert [answer.name for answer in found.answers][:2] == ["One", "Or"]


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"query": "Slow songs like Two"}, "named in the query"),
        ({"entities": entities(added="Naima")}, "named in the post"),
        ({"entities": entities(added="ONE")}, "named before in the thread"),
    ],
)
def test_no_answer(said: dict[str, object], reason: str) -> None:
    """A reworded request or an addition never brings in what the asker gave away, or one title twice."""
    found = settled(label(**said), AnswerLimits(2, 10))
    answers = [answer.name for answer in found.threads[0].answers]
    assert answers == [name for name in ("One", "Two", "Three", "Four", "Five") if name not in str(said.get("query"))]
    assert found.counts["answers"].dropped[reason] == 1


@pytest.mark.parametrize(
    ("judgement", "reason"),
    [
        (None, "not judged"),
        (label(category="pop culture"), "pop culture"),
        (label(entities=entities(struck="One Two Three Four")), "fewer than 2 answers left"),
        (label(links=(replace(KEPT, verdict="invalid"),)), "no link left"),
    ],
)
def test_left_out(judgement: Judgement | None, reason: str) -> None:
    """Each thread that goes has its reason, and its answers go with it."""
    found = settled(judgement)
    assert (found.threads, found.counts["threads"].dropped) == ([], {reason: 1})
    assert found.counts["answers"].dropped == {"of a thread that was left out": 5}


def test_answers_add_up() -> None:
    """Every answer, proposed or added, is in the ground truth or has a reason."""
    found = settled(label(entities=entities(struck="Two", added="Six ONE"))).counts["answers"]
    assert (found.seen, found.kept) == (7, 3)
    assert found.dropped == {"struck out": 1, "named before in the thread": 1, "beyond the 3 most upvoted": 2}
    assert found.add_up()


def test_designs() -> None:
    """No design, or one twice, is a mistake."""
    with pytest.raises(ValidationError, match="at least 1 item"):
        PoolsOptions(designs=[])
    with pytest.raises(UserError, match="expected different ones of paper, balanced, fresh, grouped"):
        PoolsOptions(designs=[Design.PAPER, Design.PAPER]).check()
