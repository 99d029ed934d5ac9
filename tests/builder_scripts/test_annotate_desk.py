"""Who gets which thread, in which order, and how far everybody is."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from builder_scripts.annotate.annotation_store import AnnotationStore
from builder_scripts.annotate.answers import no_answers
from builder_scripts.annotate.assign import assign
from builder_scripts.annotate.session import AnnotationSession, Progress, Sent
from musicrs_metric.errors import UserError

from .annotate_toy import answered, item

THREADS = [f"t3_{number}" for number in range(1_000)]


def test_each_thread_goes_to_as_many_as_asked() -> None:
    """With four annotators and an overlap of two, every thread has two and the shares are even."""
    shares = assign(THREADS, ["ann", "bob", "cid", "dee"], 2, {})
    holders = Counter(thread for share in shares.values() for thread in share)
    assert set(holders.values()) == {2}
    assert set(holders) == set(THREADS)
    # 500 each, binomial with p = 1/2: a standard deviation of 16.
    assert all(abs(len(share) - 500) < 80 for share in shares.values())
    assert all(THREADS.index(one) < THREADS.index(two) for share in shares.values() for one, two in pairwise(share))


def test_pairs_overlap_evenly() -> None:
    """Every pair of annotators has threads in common, so agreement can be measured between all."""
    shares = assign(THREADS, ["ann", "bob", "cid", "dee"], 2, {})
    common = [
        len(set(shares[one]) & set(shares[two]))
        for one in shares
        for two in shares
        if one < two
    ]  # fmt: skip
    assert all(abs(n - 1_000 / 6) < 60 for n in common)


def test_fewer_annotators_than_the_overlap() -> None:
    """The first to come gets everything."""
    assert assign(THREADS, ["ann"], 2, {}) == {"ann": THREADS}


def test_the_deal_does_not_depend_on_order() -> None:
    """The same people get the same threads, whoever is named first."""
    assert assign(THREADS, ["ann", "bob", "cid"], 2, {}) == assign(THREADS, ["cid", "ann", "bob"], 2, {})


def test_a_newcomer_takes_an_equal_share_and_moves_nothing_else() -> None:
    """When a fourth joins, threads move only to the newcomer, a quarter of all places."""
    before = assign(THREADS, ["ann", "bob", "cid"], 2, {})
    after = assign(THREADS, ["ann", "bob", "cid", "dee"], 2, {})
    for name in ("ann", "bob", "cid"):
        assert set(after[name]) <= set(before[name])
    assert abs(len(after["dee"]) - 500) < 80


def test_what_is_begun_stays() -> None:
    """A newcomer takes no place that somebody has begun."""
    begun = {thread: {"ann", "bob"} for thread in THREADS[:300]}
    shares = assign(THREADS, ["ann", "bob", "cid"], 2, begun)
    assert set(THREADS[:300]) <= set(shares["ann"]) & set(shares["bob"])
    assert not set(THREADS[:300]) & set(shares["cid"])


def test_who_rests_gets_nothing_new() -> None:
    """Who has stopped keeps what they began; their other threads go to the rest."""
    shares = assign(THREADS, ["ann", "bob", "cid"], 2, {"t3_5": {"bob"}}, resting=["bob"])
    assert shares["bob"] == ["t3_5"]
    assert len(shares["ann"]) + len(shares["cid"]) == 2 * len(THREADS) - 1


@pytest.fixture
def session(tmp_path: Path) -> AnnotationSession:
    return AnnotationSession([item(number) for number in range(5)], AnnotationStore(tmp_path), overlap=2)


def test_a_session(session: AnnotationSession) -> None:
    """Finish two threads, go back and forth, come back: the next unfinished thread is shown."""
    view = session.join("Ann")
    assert view.item == item(0)
    assert view.progress == (Progress("Ann", 0, 5),)
    for number in (0, 1):
        assert session.save("Ann", answered(item(number))) == []
    view = session.view("Ann", "t3_0001", "unfinished")
    assert (view.item, view.place, view.mine) == (item(2), 2, Progress("Ann", 2, 5))
    assert session.view("Ann", "t3_0002", "previous").answers == answered(item(1))
    assert session.view("Ann", "t3_0000", "previous").place == 0
    assert session.view("Ann", "t3_0004", "next").place == 4
    assert session.join("ann").item == item(2)
    assert session.join("Ann", "t3_0001").item == item(1)
    assert session.join("Ann", "t3_nowhere").item == item(2)


def test_unfinished_starts_again_at_the_top(session: AnnotationSession) -> None:
    """Behind the last thread the first unfinished one follows, and the same thread when nothing is left."""
    session.join("Ann")
    for number in (1, 2, 3, 4):
        session.save("Ann", answered(item(number)))
    assert session.view("Ann", "t3_0004", "unfinished").item == item(0)
    session.save("Ann", answered(item(0)))
    view = session.view("Ann", "t3_0000", "unfinished")
    assert view.item == item(0)
    assert view.mine == Progress("Ann", 5, 5)


def test_drafts_are_kept(session: AnnotationSession, tmp_path: Path) -> None:
    """Half an answer is there after everything was started anew, and does not count as finished."""
    session.join("Ann")
    draft = replace(no_answers(item(0)), category="music", more_links="not a link yet")
    assert session.save("Ann", draft)
    again = AnnotationSession([item(number) for number in range(5)], AnnotationStore(tmp_path), overlap=2)
    view = again.join("Ann")
    assert view.answers == draft
    assert view.mine.finished == 0


def test_looking_writes_nothing(session: AnnotationSession, tmp_path: Path) -> None:
    """Leaving a thread as it was is no answer, and holds no place of it."""
    session.join("Ann")
    size = sum(path.stat().st_size for path in tmp_path.iterdir())
    session.save("Ann", no_answers(item(0)))
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) == size


def test_finishing_needs_all_answers(session: AnnotationSession) -> None:
    """What is asked to be finished with a question open is kept as a draft, and the question told."""
    session.join("Ann")
    left = session.save("Ann", replace(no_answers(item(0)), category="music", done=True))
    assert left == ["2 links without an answer", "3 entities without an answer"]
    assert session.view("Ann", "t3_0000", "here").mine.finished == 0


def test_a_finished_thread_stays_so_while_it_is_mended(session: AnnotationSession) -> None:
    """An edit afterwards keeps the thread finished, unless it opens a question."""
    session.join("Ann")
    session.save("Ann", answered(item(0)))
    session.save("Ann", replace(answered(item(0), query="better"), done=False))
    view = session.view("Ann", "t3_0000", "here")
    assert (view.mine.finished, view.answers and view.answers.query) == (1, "better")
    session.save("Ann", replace(answered(item(0), query=""), done=False))
    assert session.view("Ann", "t3_0000", "here").mine.finished == 0


def test_messages_that_overtake_each_other(session: AnnotationSession) -> None:
    """An older message that arrives later undoes nothing, and a request to finish holds in whatever order it comes."""
    session.join("Ann")
    whole, half = answered(item(0), query="new"), replace(no_answers(item(0)), category="music")
    session.save("Ann", whole, Sent("page", 2.0))
    session.save("Ann", half, Sent("page", 1.0))
    view = session.view("Ann", "t3_0000", "here")
    assert (view.answers, view.mine.finished) == (whole, 1)
    # The other page of the same annotator has a clock of its own.
    session.save("Ann", replace(whole, query="from elsewhere"), Sent("other page", 0.5))
    answers = session.view("Ann", "t3_0000", "here").answers
    assert answers is not None
    assert answers.query == "from elsewhere"

    session.save("Ann", replace(answered(item(1), query="newest"), done=False), Sent("page", 4.0))
    session.save("Ann", answered(item(1), query="older"), Sent("page", 3.0))
    view = session.view("Ann", "t3_0001", "here")
    assert (view.answers, view.mine.finished) == (answered(item(1), query="newest"), 2)


def test_a_thread_on_the_screen_is_not_taken_away(session: AnnotationSession) -> None:
    """Who looks at a thread when newcomers take it over can still finish it."""
    session.join("Ann")
    for name in ("Bob", "Cid", "Dee"):
        session.join(name)
    mine = {progress.annotator: progress.total for progress in session.view("Ann", None, "here").progress}["Ann"]
    assert mine < 5
    for number in range(5):
        view = session.view("Ann", f"t3_{number:04x}", "here")
        assert view.item == item(number)


def test_what_a_page_may_not_ask(session: AnnotationSession) -> None:
    """Strangers and threads from nowhere are refused in words."""
    with pytest.raises(UserError, match="no annotator named Bob has joined"):
        session.view("Bob", None, "here")
    session.join("Ann")
    with pytest.raises(UserError, match="no thread t3_0063 in the work list"):
        session.save("Ann", answered(item(99)))
