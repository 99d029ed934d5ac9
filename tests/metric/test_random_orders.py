"""The null distribution against exhaustive enumeration, and the verdict that rests on it."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from musicrs_metric.chance import chance, chance_test, verdict
from musicrs_metric.hits import Hits
from musicrs_metric.measures import Floats, measure, measure_names, named_measure
from musicrs_metric.random_orders import Pools, kinds_of, null_distribution
from musicrs_metric.scoring import score

CUTOFFS = (1, 2, 5, 99)
NAMES = measure_names(CUTOFFS)
Kind = tuple[int, int, int]


def judged(threads: list[tuple[Kind, tuple[int, ...]]]) -> dict[str, Floats]:
    """Every measure of threads whose relevant candidates are at given ranks."""
    thread = np.repeat(np.arange(len(threads)), [len(ranks) for _, ranks in threads])
    rank = np.array([rank for _, ranks in threads for rank in ranks], dtype=np.int64)
    size, reachable, relevant = np.array([kind for kind, _ in threads], dtype=np.int64).T
    none = np.zeros(len(threads), dtype=np.int64)
    return measure(Hits(thread, rank, relevant, reachable, size, none, none, none.astype(bool)), CUTOFFS)


def all_orders(kinds: list[Kind]) -> dict[str, Floats]:
    """Sum of every measure for every combination of places of the relevant candidates; all are equally likely."""
    places = [list(combinations(range(1, size + 1), reachable)) for size, reachable, _ in kinds]
    alone = [judged([(kind, ranks) for ranks in of]) for kind, of in zip(kinds, places, strict=True)]
    return {name: np.array([sum(values) for values in product(*(found[name] for found in alone))]) for name in NAMES}


KINDS: st.SearchStrategy[list[Kind]] = st.lists(
    st.integers(1, 5).flatmap(
        lambda size: st.integers(0, min(size, 3)).flatmap(
            lambda reachable: st.tuples(st.just(size), st.just(reachable), st.integers(reachable, reachable + 2))
        )
    ),
    min_size=1,
    max_size=4,
)


@settings(max_examples=6, deadline=None)
@given(kinds=KINDS)
def test_every_tail_against_all_orders(kinds: list[Kind]) -> None:
    """At every value that occurs, both tails count it in. Only values closer than the grid resolves count as equal."""
    pools = kinds_of(kinds)
    for name, sums in all_orders(kinds).items():
        null = null_distribution(named_measure(name), pools)
        near = 2 * null.slack + 1e-9
        assert near < 1e-3 * len(kinds) or null.step * round(1 / null.step) == pytest.approx(1)
        for total in np.unique(sums.round(12)):
            above, below = null.at_least(total), null.at_most(total)
            assert (sums >= total - 1e-9).mean() - 1e-6 <= above <= (sums >= total - near).mean() + 1e-6, name
            assert (sums <= total + 1e-9).mean() - 1e-6 <= below <= (sums <= total + near).mean() + 1e-6, name


def test_hit_rate_by_hand() -> None:
    """Ten threads with one of ten candidates relevant: hits at rank 1 are binomial."""
    pools = kinds_of([(10, 1, 1)] * 10)
    for hits in range(11):
        tail = sum(Fraction(comb(10, h) * 9 ** (10 - h), 10**10) for h in range(hits, 11))
        test = chance_test("hit@1", hits / 10, pools)
        assert test is not None
        assert test.p_above == pytest.approx(float(tail), abs=1e-12)
        assert test.verdict == ("above" if tail <= Fraction(1, 40) else "at")
    assert verdict("hit@1", 0.4, pools) == "above"  # 1.3 %
    assert verdict("hit@1", 0.3, pools) == "at"  # 7.0 %


def test_a_tail_of_exactly_the_level_is_enough() -> None:
    """One relevant candidate of forty: rank 1 has the probability 2.5 %."""
    assert verdict("recall@1", 1.0, kinds_of([(40, 1, 1)])) == "above"
    assert verdict("recall@1", 1.0, kinds_of([(39, 1, 1)])) == "at"


@pytest.mark.parametrize("name", ["recall@1", "recall@20", "ndcg@20", "mrr", "hit@1", "precision@5"])
def test_mean_of_the_distribution_is_the_chance_level(name: str) -> None:
    """The mean of a distribution is the sum of its upper tails, here compared with the closed form."""
    sizes = np.array([55, 90, 92, 97, 100, 100])
    relevant = np.array([2, 0, 2, 7, 10, 10])
    none = np.zeros(6, dtype=np.int64)
    nowhere = np.zeros(0, dtype=np.int64)
    levels = chance(Hits(nowhere, nowhere, relevant, relevant, sizes, none, none, none.astype(bool)), (1, 5, 20))
    assert levels is not None
    null = null_distribution(
        named_measure(name), kinds_of(zip(sizes.tolist(), relevant.tolist(), relevant.tolist(), strict=True))
    )
    places = null.start + null.step * np.arange(len(null.cumulative) - 1)
    assert np.diff(null.cumulative) @ places == pytest.approx(levels[name].sum(), abs=1e-6)


@pytest.mark.parametrize("n", [1, 6, 30])
def test_large_numbers_of_relevant_items(n: int) -> None:
    """Where shares have no small common denominator the grid is fine enough: all hits or none at the first rank."""
    relevant = [11, 13, 17, 19, 23, 29] * n
    pools = kinds_of([(100, r, r) for r in relevant])
    test = chance_test("recall@1", 0.0, pools)
    assert test is not None
    assert test.p_below == pytest.approx(np.prod([1 - r / 100 for r in relevant]), abs=1e-6)
    assert test.p_above == pytest.approx(1.0, abs=1e-9)


def test_no_verdict_without_pools_or_threads() -> None:
    """Chance is undefined without pools, and nothing can be said of no thread."""
    none: Pools = ()
    assert (verdict("mrr", 0.5, None), verdict("mrr", None, none), verdict("mrr", 0.5, none)) == (None, None, None)
    assert score([["A"]], [["A"]]).verdict("mrr") is None


def test_threads_without_relevant_items_count_in_the_mean_alone() -> None:
    """A thread with an empty ground truth scores 0 for everybody."""
    with_empty, without = kinds_of([(40, 1, 1), (90, 0, 0)]), kinds_of([(40, 1, 1)])
    assert chance_test("mrr", 0.25, with_empty) == chance_test("mrr", 0.5, without)
    assert verdict("mrr", 0.0, kinds_of([(90, 0, 0)])) == "at"


def test_the_verdict_covers_the_answered_threads() -> None:
    """Two of many threads have a prediction, at chance; the zeros of the others are no evidence."""
    pool = [str(i) for i in range(10)]
    rankings = [pool[1:] + pool[:1], pool[5:] + pool[:5], *[None] * 40]
    scores = score(rankings, [["0"]] * 42, [pool] * 42, k=5, groups={"genre": ["a", "b"] * 21})
    assert scores.values["mrr"] == pytest.approx((1 / 10 + 1 / 6) / 42)
    assert scores.answered is not None
    assert scores.answered.n == 2
    assert scores.answered.values["mrr"] == pytest.approx((1 / 10 + 1 / 6) / 2)
    assert scores.verdict("mrr") == scores.verdict("recall@5") == "at"
    assert {name: group.verdict("mrr") for name, group in scores.by["genre"].items()} == {"a": "at", "b": "at"}
    nothing = score([None] * 3, [["0"]] * 3, [pool] * 3, k=5)
    assert nothing.to_dict()["verdict"] == dict.fromkeys(measure_names((5,)))
    assert nothing.to_dict()["verdict_n"] == 0
