"""Verdicts against chance for dialogues: by hand, against the closed form, and on systems without information."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from musicrs_metric.catalogue.compare import group_labels, unit_table
from musicrs_metric.catalogue.corpus import DIALOGUE, TURN, Corpus
from musicrs_metric.catalogue.items import Catalogue, Item
from musicrs_metric.catalogue.judge import judge_rankings
from musicrs_metric.catalogue.measures import catalogue_table
from musicrs_metric.catalogue.null import DialogueNull, run_null
from musicrs_metric.errors import UserError
from musicrs_metric.hits import hits_from_strings
from musicrs_metric.runs.predictions import Prediction
from musicrs_metric.runs.references import References
from musicrs_metric.scoring import ThreadTable, thread_table


def pools(candidates: list[str], truths: list[str], turns: list[int]) -> References:
    """Make a corpus over pools. Each letter is a candidate; `turns` are the lengths of the dialogues."""
    dialogues = [f"d{number}" for number, length in enumerate(turns) for _ in range(length)]
    return References(
        name="small",
        config="query_only",
        thread_ids=[str(number) for number in range(len(truths))],
        candidates=[list(pool) for pool in candidates],
        ground_truth=[list(truth) for truth in truths],
        groups={DIALOGUE: dialogues, TURN: ["0"] * len(truths), "genre": ["Rock"] * len(truths)},
    )


def table_on(references: References, rankings: list[str | None]) -> ThreadTable:
    """Judge rankings of letters."""
    rows = [None if ranking is None else list(ranking) for ranking in rankings]
    return thread_table(hits_from_strings(rows, references.ground_truth, references.candidates), (1, 2, 3))


@pytest.mark.parametrize(("n", "verdict"), [(5, "at"), (6, "above")])
def test_a_lucky_order_of_a_dialogue_counts_once(n: int, verdict: str) -> None:
    """Two candidates: a random order is right at all turns of n dialogues with probability 1/2^n: 3.1 % and 1.6 %.

    With independent turns it would be 1/8^n, and five dialogues would be above chance.
    """
    references = pools(["ab"] * (3 * n), ["a"] * (3 * n), [3] * n)
    table = table_on(references, ["ab"] * (3 * n))
    units = unit_table(table, references)
    assert units.null is not None
    everything = np.ones(n, dtype=bool)
    test = units.null.test("recall@1", 1.0, everything)
    assert test is not None
    assert test.p_above == pytest.approx(0.5**n, abs=0.006)
    assert test.verdict == verdict
    assert run_null(table, references).verdicts(table.values)["macro"]["recall@1"] == verdict
    below = units.null.test("recall@1", 0.0, everything)
    assert below is not None
    assert below.verdict == {"at": "at", "above": "below"}[verdict]


def test_draws_equal_all_orders_of_a_small_dialogue() -> None:
    """Pools that grow from turn to turn: each draw is one order of all four candidates, seen through the pools."""
    pools_of_turns, truths = ["ab", "abc", "abcd"], ["a", "ac", "d"]
    references = pools(pools_of_turns, truths, [3])
    table = table_on(references, ["ab", "abc", "abcd"])
    macro, micro = DialogueNull(references, table.hits.n_relevant, table.k).means(*(np.ones(3, dtype=bool),) * 2)
    exact: dict[str, list[float]] = {name: [] for name in table.values}
    for order in permutations("abcd"):
        rankings: list[str | None] = ["".join(c for c in order if c in pool) for pool in pools_of_turns]
        for name, column in table_on(references, rankings).values.items():
            exact[name].append(float(column.mean()))
    for name, values in exact.items():
        assert set(np.round(macro[name], 9)) == set(np.round(values, 9)), name
        for level in set(values):
            share = np.isclose(values, level).mean()
            assert np.isclose(macro[name], level).mean() == pytest.approx(share, abs=0.04), name
        assert np.allclose(macro[name], micro[name])


def catalogue_corpus(n_items: int = 40) -> Corpus:
    """Make ten dialogues of one to four turns; earlier relevant items become known."""
    rng = np.random.default_rng(3)
    catalogue = Catalogue(tuple(Item(f"i{i}", cluster=f"c{i // 2}" if i < 8 else "") for i in range(n_items)))
    dialogues, truths, known = [], [], []
    for dialogue in range(10):
        goal = [f"i{i}" for i in rng.choice(n_items, 4, replace=False)]
        for turn in range(1 + dialogue % 4):
            dialogues.append(f"d{dialogue}")
            truths.append([*goal, "absent"])
            known.append(goal[:turn])
    n = len(dialogues)
    return Corpus(
        name="small", config="query_only", thread_ids=[str(i) for i in range(n)], candidates=[()] * n,
        ground_truth=truths, groups={DIALOGUE: dialogues, TURN: ["0"] * n}, queries=[""] * n, known=known,
        catalogue=catalogue,
    )  # fmt: skip


@pytest.mark.parametrize("n_items", [40, 4000])
def test_mean_of_the_draws_is_the_closed_form(n_items: int) -> None:
    """Chance levels are exact, so the mean of 4,000 draws is within five standard errors of them."""
    corpus = catalogue_corpus(n_items)
    n = len(corpus)
    table = catalogue_table(judge_rankings([()] * n, corpus.ground_truth, corpus.known, corpus.catalogue).hits, (1, 20))
    units = unit_table(table, corpus)
    macro, micro = DialogueNull(corpus, table.hits.n_relevant, table.k).means(*(np.ones(n, dtype=bool),) * 2)
    assert units.chance is not None
    assert table.chance is not None
    for drawn, levels in ((macro, units.chance), (micro, table.chance)):
        for name, draws in drawn.items():
            error = draws.std(ddof=1) / np.sqrt(len(draws))
            assert draws.mean() == pytest.approx(levels[name].mean(), abs=5 * error + 1e-12), name


def test_systems_without_information_are_rarely_above_chance() -> None:
    """400 systems that keep one random order per dialogue: at most 2.5 % are above chance, and as many below."""
    corpus = catalogue_corpus()
    rng, n = np.random.default_rng(5), len(corpus)
    # One id per cluster: a random order of all ids ranks clusters of two ids higher than a random order of clusters.
    ids = list({code: name for name, code in corpus.catalogue.codes.items()}.values())
    verdicts = []
    for _ in range(400):
        orders = {name: rng.permutation(ids).tolist() for name in dict.fromkeys(corpus.groups[DIALOGUE])}
        rankings = [orders[name] for name in corpus.groups[DIALOGUE]]
        table = catalogue_table(judge_rankings(rankings, corpus.ground_truth, corpus.known, corpus.catalogue).hits, 10)
        mean = unit_table(table, corpus)
        assert mean.null is not None
        test = mean.null.test("ndcg@10", float(mean.values["ndcg@10"].mean()), np.ones(10, dtype=bool))
        assert test is not None
        verdicts.append(test.verdict)
    assert n == 23
    for side in ("above", "below"):
        # 2.5 % of 400 is 10; 99.9 % of binomial samples are at most 21.
        assert verdicts.count(side) <= 21


def test_missing_turns_score_0_in_system_and_draws() -> None:
    """A right answer at one of two turns of eight dialogues: 1/2 at best, which 1 of 256 orders reaches."""
    references = pools(["ab"] * 18, ["a"] * 18, [2] * 9)
    table = table_on(references, ["ab", None] * 8 + [None, None])
    verdicts = run_null(table, references).verdicts(table.values)
    assert verdicts["macro"]["recall@1"] == verdicts["micro"]["recall@1"] == "above"
    nothing = table_on(references, [None] * 18)
    assert run_null(nothing, references).verdicts(nothing.values) == {}


def test_rows_of_a_board_are_dialogues() -> None:
    """Five dialogues of three turns, all right: n is 5, the interval is that of five values, and the verdict is at."""
    from space.board.data import PoolDesign
    from space.board.judging import judge

    references = pools(["ab"] * 15, ["a"] * 15, [3] * 5)
    design = PoolDesign("published", references, ("query_only",))
    judged = judge([Prediction(name, ("a", "b")) for name in references.thread_ids], design)
    assert (judged.scores.n, design.chance.n) == (5, 5)
    assert judged.scores.verdict("recall@1") == "at"
    assert judged.alone.chance[0] is not None
    assert judged.alone.chance[0].verdict == "at"
    assert judged.scores.interval is not None
    assert judged.scores.interval["recall@1"][0] == pytest.approx(0.025**0.2, abs=1e-9)


def test_labels_that_differ_within_a_dialogue_are_refused() -> None:
    """A genre per turn cannot group dialogues."""
    references = pools(["ab"] * 2, ["a"] * 2, [2])
    references.groups["genre"][1] = "Jazz"
    with pytest.raises(UserError, match="genre: differs within dialogue d0"):
        group_labels(references, ["genre"])
