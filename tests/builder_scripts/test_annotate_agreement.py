"""Kappa against the libraries, against figures worked out by hand, and its interval; shares; the files of `agree`."""

from __future__ import annotations

import csv
import random
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from builder_scripts.annotate import kappa
from builder_scripts.annotate.agree import agree, write_agreement
from builder_scripts.annotate.judgement import Judgement
from builder_scripts.annotate.kappa import Kappa
from builder_scripts.annotate.shares import shares
from builder_scripts.annotate.votes import Question, QuestionVotes
from builder_scripts.annotate.worklist import CATEGORIES, WorkItem

from .annotate_toy import OTHER_VIDEO, check_exported_kappas, item, judged

cohen = partial(kappa.cohen, resamples=2_000, seed=0)
fleiss = partial(kappa.fleiss, resamples=2_000, seed=0)


def entity_ballots(rows: list[tuple[str, dict[str, bool]]]) -> list[QuestionVotes]:
    """Votes on entities, by thread."""
    return [
        QuestionVotes(
            Question(thread, "entity", f"song: {number}"),
            {name: "relevant" if vote else "irrelevant" for name, vote in votes.items()},
        )
        for number, (thread, votes) in enumerate(rows)
    ]


def test_cohen_by_hand() -> None:
    """20 and 15 questions agreed on, 5 and 10 not: 0.7 observed, 0.5 by chance, kappa 0.4."""
    cells = [(True, True)] * 20 + [(True, False)] * 5 + [(False, True)] * 10 + [(False, False)] * 15
    rows = [(f"t3_{number}", {"ann": one, "bob": two}) for number, (one, two) in enumerate(cells)]
    found = cohen(entity_ballots(rows), "entity", ("ann", "bob"))
    assert found is not None
    assert found.value == pytest.approx(0.4)
    assert (found.agreement, found.n_questions, found.n_threads, found.n_annotators) == (0.7, 50, 50, 2)


def test_fleiss_by_hand() -> None:
    """Four questions with 3, 2, 1 and 0 of three votes: 2/3 observed, 1/2 by chance, kappa 1/3."""
    names = ("ann", "bob", "cid")
    rows = [(f"t3_{yes}", {name: place < yes for place, name in enumerate(names)}) for yes in (3, 2, 1, 0)]
    found = fleiss(entity_ballots(rows), "entity")
    assert found is not None
    assert found.value == pytest.approx(1 / 3)
    assert found.agreement == pytest.approx(2 / 3)


def test_fleiss_takes_the_questions_with_the_most_frequent_number_of_answers() -> None:
    """One question with three answers beside two with two is left out, and so is one with a single answer."""
    rows = [
        ("t3_1", {"ann": True, "bob": True}),
        ("t3_2", {"bob": False, "cid": True}),
        ("t3_3", {"ann": True, "bob": True, "cid": True}),
        ("t3_4", {"ann": True}),
    ]
    found = fleiss(entity_ballots(rows), "entity")
    assert found is not None
    assert (found.n_questions, found.n_annotators, found.agreement) == (2, 2, 0.5)


def test_one_answer_throughout_has_no_kappa() -> None:
    """Where all say the same of everything, chance agrees fully too: undefined, told apart from 0."""
    rows = [(f"t3_{number}", {"ann": True, "bob": True}) for number in range(5)]
    undefined = Kappa(None, None, None, 1.0, 5, 5, 2, "one label throughout, so kappa is undefined")
    assert cohen(entity_ballots(rows), "entity", ("ann", "bob")) == undefined
    assert fleiss(entity_ballots(rows), "entity") == undefined


def test_few_threads_have_no_interval() -> None:
    """Below twenty threads the percentile bootstrap of kappa covers too little."""
    one = fleiss(entity_ballots([("t3_1", {"ann": True, "bob": False})]), "entity")
    assert one is not None
    assert one[:3] == (-1.0, None, None)
    assert one.reason == "1 thread, an interval of kappa needs at least 20"
    for n, has_one in ((19, False), (20, True)):
        found = cohen(entity_ballots(coin_rows(n)), "entity", ("ann", "bob"))
        assert found is not None
        assert (found.low is not None) == (found.reason is None) == has_one


@pytest.mark.parametrize("n", [6, 40])
def test_no_interval_has_the_width_zero(n: int) -> None:
    """Kappa is 0 or 1 in every resample: where one annotator gives one label only, and where both agree throughout."""
    one_label = [(f"t3_{number}", {"ann": True, "bob": number > 0}) for number in range(n)]
    agreed = [(f"t3_{number}", {"ann": number % 2 == 0, "bob": number % 2 == 0}) for number in range(n)]
    for rows, value in ((one_label, 0.0), (agreed, 1.0)):
        for found in (cohen(entity_ballots(rows), "entity", ("ann", "bob")), fleiss(entity_ballots(rows), "entity")):
            assert found is not None
            assert found.reason is not None or (found.low is not None and found.low < (found.high or 0.0))
        cohens = cohen(entity_ballots(rows), "entity", ("ann", "bob"))
        assert cohens is not None
        assert cohens[:3] == (value, None, None)
    noted = cohen(entity_ballots(one_label), "entity", ("ann", "bob"))
    assert noted is not None
    assert noted.reason == "one annotator gave one label only, so kappa is always 0"


def test_nothing_in_common_has_none() -> None:
    """Two people who judged different threads cannot be compared."""
    rows = [("t3_1", {"ann": True}), ("t3_2", {"bob": True})]
    assert cohen(entity_ballots(rows), "entity", ("ann", "bob")) is None
    assert fleiss(entity_ballots(rows), "entity") is None


def coin_rows(n: int, seed: int = 1) -> list[tuple[str, dict[str, bool]]]:
    rng = random.Random(seed)
    truth = [rng.random() < 0.6 for _ in range(n)]
    return [
        (f"t3_{number}", {name: yes if rng.random() < 0.8 else not yes for name in ("ann", "bob")})
        for number, yes in enumerate(truth)
    ]


def test_the_interval_is_close_to_the_asymptotic_one() -> None:
    """With one question a thread the bootstrap agrees with the formula of Fleiss, Cohen and Everitt (1969)."""
    from statsmodels.stats.inter_rater import cohens_kappa

    rows = coin_rows(400)
    table = Counter((votes["ann"], votes["bob"]) for _, votes in rows)
    known = cohens_kappa(np.array([[table[True, True], table[True, False]], [table[False, True], table[False, False]]]))
    # Fleiss' kappa of two people whose answers are spread alike is nearly Cohen's.
    for found in (cohen(entity_ballots(rows), "entity", ("ann", "bob")), fleiss(entity_ballots(rows), "entity")):
        assert found is not None
        assert found.low == pytest.approx(known.kappa_low, abs=0.02)
        assert found.high == pytest.approx(known.kappa_upp, abs=0.02)


def test_questions_of_one_thread_do_not_narrow_the_interval() -> None:
    """Asking everything four times over, in the same threads, brings no certainty; and a seed fixes the digits."""
    rows = coin_rows(40)
    for fold in (1, 4):
        pair = cohen(entity_ballots(rows * fold), "entity", ("ann", "bob"), seed=3)
        everybody = fleiss(entity_ballots(rows * fold), "entity", seed=3)
        assert pair is not None
        assert everybody is not None
        intervals = (pair.low, pair.high, everybody.low, everybody.high)
        assert None not in intervals
        if fold == 1:
            once = intervals
        assert intervals == pytest.approx(once, abs=1e-9)


def random_judgements(items: list[WorkItem], names: list[str], seed: int) -> dict[str, dict[str, Judgement]]:
    """Every thread judged by two or three people at random."""
    rng = random.Random(seed)
    found: dict[str, dict[str, Judgement]] = {name: {} for name in names}
    for thread in items:
        for name in rng.sample(names, rng.choice([2, 2, 2, 3])):
            found[name][thread.thread_id] = judged(
                thread,
                rng.choices(CATEGORIES, [6, 2, 1])[0],
                links="".join(rng.choice("yyn") for _ in thread.links),
                instead={0: f"https://youtu.be/{OTHER_VIDEO}"} if rng.random() < 0.2 else {},
                entities="".join(rng.choice("yyyn") for _ in thread.entities),
                more_entities=rng.choice(["", "", "album: =Kind"]),
                query=rng.choice([thread.query, "+49 jazz"]),
            )
    return found


def test_kappa_of_the_exported_votes(tmp_path: Path) -> None:
    """Computed from `votes.csv` alone, scikit-learn's and statsmodels' kappa are the ones of `agreement.json`."""
    items = [item(number) for number in range(40)]
    found = agree(items, random_judgements(items, ["Ann", "Bob", "Cid", "Dee"], 5), resamples=20, seed=0)
    write_agreement(tmp_path, found, items)
    assert len(found.cohen) == 6
    check_exported_kappas(tmp_path)


def test_no_cell_is_a_formula(tmp_path: Path) -> None:
    """Text of strangers and annotators cannot make a spreadsheet calculate."""
    items = [item(number, hostile='"\n=cmd|x') for number in range(10)]
    found = agree(items, random_judgements(items, ["Ann", "Bob", "Cid"], 1), resamples=1, seed=0)
    write_agreement(tmp_path, found, items)
    cells = []
    for name in ("votes.csv", "disagreements.csv"):
        with (tmp_path / name).open(encoding="utf-8-sig", newline="") as file:
            cells += [cell for row in csv.reader(file) for cell in row]
    assert "'+49 jazz" in cells
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]


def test_threads_are_counted_by_judgements() -> None:
    """How many threads nobody, one or two people have finished."""
    items = [item(number) for number in range(4)]
    judgements = {"Ann": {"t3_0000": judged(item(0)), "t3_0001": judged(item(1))}, "Bob": {"t3_0000": judged(item(0))}}
    found = agree(items, judgements, resamples=1, seed=0)
    assert found.finished == {"Ann": 2, "Bob": 1}
    assert found.overlap == {0: 2, 1: 1, 2: 1}


def test_shares_by_hand() -> None:
    """Of 4 links one discarded, one corrected, one added; of 6 entities 2 removed, 1 recovered; 1 thread of 2 moved."""
    one = judged(
        item(0), links="n", instead={1: f"https://youtu.be/{OTHER_VIDEO}"}, entities="nny", more_entities="song: New",
        more_links="https://youtu.be/0000000999A",
    )  # fmt: skip
    found = shares([item(0), item(1), item(2)], [one, judged(item(1), "pop culture")])
    assert {name: tuple(share) for name, share in found.items()} == {
        "links discarded": (1, 4),
        "links corrected or added": (2, 4),
        "entities removed": (2, 6),
        "entities recovered": (1, 6),
        "threads reassigned": (1, 2),
        "threads about music": (1, 2),
    }
    assert {share.value for share in shares([item(0)], []).values()} == {None}
