"""Measures on ranks of hits, worked out by hand."""

from __future__ import annotations

from math import log2
from typing import Any

import numpy as np
import pytest

from musicrs_metric import measures
from musicrs_metric.closed_forms import PoolKind, Rest, discounts, ideal_dcg
from musicrs_metric.hits import Hits, hits_from_indices
from musicrs_metric.measures import (
    Measure,
    Precision,
    check_cutoffs,
    count_hits,
    measure,
    measure_names,
    measures_at,
    named_measure,
)
from musicrs_metric.scoring import score

POOL = 30


def hits_at(*threads: tuple[list[int], int]) -> Hits:
    """Threads of 30 candidates, given as (ranks of the hits, number of relevant items)."""
    rankings, relevant = [], []
    for ranks, n_relevant in threads:
        other = iter(range(n_relevant, POOL))
        hit = iter(range(n_relevant))
        depth = max(ranks, default=0)
        rankings.append([next(hit) if rank in ranks else next(other) for rank in range(1, depth + 1)])
        relevant.append(range(n_relevant))
    return hits_from_indices(rankings, relevant, POOL)


def one(name: str, ranks: list[int], n_relevant: int, k: int = 5) -> float:
    """Value of one measure on one thread."""
    return float(measure(hits_at((ranks, n_relevant)), (k,))[name][0])


@pytest.mark.parametrize(
    ("ranks", "expected"), [([1], 1.0), ([2], 0.5), ([3, 4], 1 / 3), ([20], 0.05), ([25], 0.04), ([], 0.0)]
)
def test_mrr(ranks: list[int], expected: float) -> None:
    """1 / rank of the first hit, however deep; 0 for none."""
    assert one("mrr", ranks, 3) == expected


@pytest.mark.parametrize(
    ("ranks", "n_relevant", "expected"),
    [([1], 1, 1.0), ([1], 4, 0.25), ([5], 2, 0.5), ([6], 2, 0.0), ([1, 2, 3, 4, 5], 10, 0.5), ([], 3, 0.0)],
)
def test_recall(ranks: list[int], n_relevant: int, expected: float) -> None:
    """Found in the first 5, of all that are relevant; ten relevant items cap it at 0.5."""
    assert one("recall@5", ranks, n_relevant) == expected


@pytest.mark.parametrize(("ranks", "expected"), [([5], 1.0), ([6], 0.0), ([1, 2], 1.0), ([], 0.0)])
def test_hit(ranks: list[int], expected: float) -> None:
    """Whether the first 5 hold any hit."""
    assert one("hit@5", ranks, 4) == expected


@pytest.mark.parametrize(("ranks", "expected"), [([1], 0.2), ([1, 5, 6], 0.4), ([], 0.0)])
def test_precision(ranks: list[int], expected: float) -> None:
    """Hits among the first 5, over 5, also where fewer are relevant."""
    assert one("precision@5", ranks, 3) == expected


@pytest.mark.parametrize(
    ("ranks", "n_relevant", "expected"),
    [
        ([1], 1, 1.0),
        ([2], 1, 1 / log2(3)),
        ([3], 1, 0.5),
        ([1, 3], 2, 1.5 / (1 + 1 / log2(3))),
        ([1, 2, 3, 4, 5], 10, 1.0),  # the ideal list has 5 hits, not 10
        ([6], 1, 0.0),
        ([], 2, 0.0),
    ],
)
def test_ndcg(ranks: list[int], n_relevant: int, expected: float) -> None:
    """Sum of 1 / log2(rank + 1) over the hits in the first 5, over that of the best list."""
    assert one("ndcg@5", ranks, n_relevant) == pytest.approx(expected, abs=1e-15)


def test_no_relevant_item() -> None:
    """Every measure is 0, not undefined."""
    values = measure(hits_at(([], 0)), (1, 5))
    assert {name: value.tolist() for name, value in values.items()} == {name: [0.0] for name in measure_names((1, 5))}


def test_threads_do_not_mix() -> None:
    """Empty threads before, between and behind leave the others as they are."""
    hits = hits_at(([], 0), ([1], 1), ([], 2), ([2], 1), ([], 0))
    assert measure(hits, (1,))["mrr"].tolist() == [0.0, 1.0, 0.0, 0.5, 0.0]
    assert measure(hits, (1,))["recall@1"].tolist() == [0.0, 1.0, 0.0, 0.0, 0.0]
    assert measure(hits, (2,))["recall@2"].tolist() == [0.0, 1.0, 0.0, 1.0, 0.0]


def test_perfect_lists_are_exactly_one() -> None:
    """Rounding lifts no value over 1 and leaves none below it."""
    values = measure(hits_at(*((list(range(1, n + 1)), n) for n in range(1, POOL))), tuple(range(1, POOL)))
    for n in range(1, POOL):
        assert all(values[f"ndcg@{k}"][n - 1] == 1.0 for k in range(1, POOL))


def test_cutoff_beyond_everything() -> None:
    """A cutoff of a thousand million costs nothing and changes nothing beyond the end of the list."""
    deep = measure(hits_at(([1, 3], 2)), (10, 10**9))
    for name in ("recall", "ndcg", "hit"):
        assert deep[f"{name}@{10**9}"] == deep[f"{name}@10"]


def test_names_and_order() -> None:
    """The order of every table."""
    assert measure_names((1, 20)) == [
        "recall@1", "recall@20", "ndcg@1", "ndcg@20", "mrr", "hit@1", "hit@20", "precision@1", "precision@20"
    ]  # fmt: skip
    assert list(measure(hits_at(([1], 1)), (1, 20))) == measure_names((1, 20))


@pytest.mark.parametrize(("k", "expected"), [(5, (5,)), ([20, 1, 20], (1, 20)), (np.int64(3), (3,)), ({2, 1}, (1, 2))])
def test_cutoffs(k: Any, expected: tuple[int, ...]) -> None:
    """One or several, sorted, each once."""
    assert check_cutoffs(k) == expected


@pytest.mark.parametrize("k", [0, -1, 2.0, "5", True, None, [], [1, None], [[1]]])
def test_cutoffs_that_are_none(k: Any) -> None:
    """What is no positive integer is refused in words."""
    with pytest.raises(ValueError, match="k must"):
        check_cutoffs(k)


@pytest.mark.parametrize("k", [100_000, np.int64(2**62), [1, 10**40]])
def test_cutoffs_beyond_any_list(k: Any) -> None:
    """The largest cutoff is that which `compare` takes; a number that no array could hold is told in words."""
    assert check_cutoffs(99_999) == (99_999,)
    with pytest.raises(ValueError, match=r"^k must be at most 99999, found [0-9]{6,}$"):
        check_cutoffs(k)


def test_discounts() -> None:
    """1, 1 / log2(3), 1 / 2."""
    assert discounts(3) == pytest.approx([1.0, 0.6309297535714575, 0.5], abs=1e-15)
    assert ideal_dcg(np.array([0, 1, 2, 9]), 2) == pytest.approx([0.0, 1.0, 1.6309297535714575, 1.6309297535714575])


@pytest.mark.parametrize("each", measures_at((1, 5, 20)), ids=lambda each: str(each.name))
@pytest.mark.parametrize("pool", [PoolKind(30, 4, 6, 1), PoolKind(4, 4, 4, 1), PoolKind(9, 1, 1, 1)])
def test_the_values_of_a_random_order_have_the_expected_mean(each: Measure, pool: PoolKind) -> None:
    """A measure gives its expectation in closed form and its distribution; both must agree."""
    nothing = np.zeros(1, dtype=np.int64)
    size, reachable, relevant = (np.array([number]) for number in pool[:3])
    no_hits = Hits(nothing[:0], nothing[:0], relevant, reachable, size, nothing, nothing, nothing > 0)
    counts = count_hits(no_hits, (each.k,))
    expected = each.expected(counts, Rest(nothing, size, size, reachable))
    gains = each.rank_gains(pool)
    if gains is None:
        values, probabilities = each.random_values(pool)
        assert probabilities.sum() == pytest.approx(1)
        mean = values @ probabilities
    else:
        mean = gains.sum() * pool.reachable / pool.size
    assert mean == pytest.approx(expected[0])


def test_names_of_measures() -> None:
    """Every name leads back to its measure; no other text does."""
    for each in measures_at((1, 20, 99_999)):
        assert named_measure(each.name) == each
    for name in (
        "recall",
        "mrr@5",
        "recall@0",
        "recall@01",
        "recall@100000",
        "recall@-1",
        "recall@²",
        "map@5",
        "",
        "@5",
    ):
        with pytest.raises(ValueError, match=r"unknown metric .*; expected one of recall@K, ndcg@K, mrr"):
            named_measure(name)


def test_a_new_measure_is_one_class(monkeypatch: pytest.MonkeyPatch) -> None:
    """Named in `MEASURES`, it has values, chance, ceiling and a verdict."""

    class Missed(Precision):
        label = "missed"

    monkeypatch.setattr(measures, "MEASURES", (*measures.MEASURES, Missed))
    pool = [str(i) for i in range(40)]
    scores = score([pool] * 5, [["0"]] * 5, [pool] * 5, k=1)
    assert scores.chance is not None
    assert [scores.values["missed@1"], scores.chance["missed@1"], scores.ceiling["missed@1"]] == [1, 1 / 40, 1]
    assert scores.verdict("missed@1") == "above"
