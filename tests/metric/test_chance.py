"""Chance and ceiling against every permutation of small pools, scipy, and independent values."""

from __future__ import annotations

from itertools import permutations
from math import comb
from typing import Any

import numpy as np
import pytest
from scipy.stats import hypergeom

from musicrs_metric.chance import ceiling, chance
from musicrs_metric.closed_forms import expected_reciprocal_rank, hit_probability
from musicrs_metric.hits import Hits, hits_from_indices, hits_from_strings
from musicrs_metric.measures import measure, measure_names

from .support import references_of

K = (1, 2, 3, 7)


def all_orders(pool_size: int, relevant: list[str]) -> Hits:
    """Every permutation of a pool of letters, one thread each."""
    orders = list(permutations("ABCDEF"[:pool_size]))
    return hits_from_strings(orders, [relevant] * len(orders), [orders[0]] * len(orders))


@pytest.mark.parametrize(
    ("pool_size", "relevant"),
    [(1, ["A"]), (4, ["A"]), (5, ["A", "C"]), (6, ["A", "B", "F"]), (6, list("ABCDEF")), (4, []), (5, ["A", "X", "Y"])],
)
def test_chance_and_ceiling_are_mean_and_maximum_of_all_orders(pool_size: int, relevant: list[str]) -> None:
    """No simulation: 720 orders at most; X and Y are relevant items that the pool lacks."""
    hits = all_orders(pool_size, relevant)
    values, expected, best = measure(hits, K), chance(hits, K), ceiling(hits, K)
    assert expected is not None
    assert set(expected) == set(best) == set(measure_names(K))
    for name, column in values.items():
        assert expected[name] == pytest.approx(np.full(len(hits), column.mean()), abs=1e-14), name
        assert best[name] == pytest.approx(np.full(len(hits), column.max()), abs=1e-15), name


@pytest.mark.parametrize(("n", "r"), [(100, 10), (100, 1), (91, 1), (55, 8), (20, 15)])
@pytest.mark.parametrize("k", [1, 5, 10, 20, 200])
def test_against_the_hypergeometric_distribution(n: int, r: int, k: int) -> None:
    """Hits among k of n drawn without replacement: expectation, and probability of any."""
    hits = hits_from_indices([[]], [list(range(r))], n)
    values = chance(hits, (k,))
    assert values is not None
    probability = hypergeom(n, r, min(k, n)).pmf(np.arange(r + 1))
    mean = probability @ np.arange(r + 1)
    assert values[f"recall@{k}"][0] == pytest.approx(mean / r, abs=1e-12)
    assert values[f"precision@{k}"][0] == pytest.approx(mean / k, abs=1e-12)
    assert values[f"hit@{k}"][0] == pytest.approx(1 - probability[0], abs=1e-12)


@pytest.mark.parametrize(("n", "r"), [(100, 10), (55, 3), (5, 5), (1, 1)])
def test_reciprocal_rank_from_counts_of_orders(n: int, r: int) -> None:
    """The first hit is at rank i in C(n - i, r - 1) of the C(n, r) ways to place r hits."""
    expected = sum(comb(n - i, r - 1) / comb(n, r) / i for i in range(1, n + 1))
    assert expected_reciprocal_rank(n, r) == pytest.approx(expected, abs=1e-14)


def test_nothing_relevant_or_no_pool() -> None:
    """0 without relevant items; undefined without pools, where the ceiling is that of an ideal list."""
    assert expected_reciprocal_rank(0, 0) == expected_reciprocal_rank(9, 0) == hit_probability(9, 0, 3) == 0.0
    without = hits_from_strings([["A"]], [["A", "B"]])
    assert chance(without) is None
    best = ceiling(without, (1, 3))
    expected = {"recall@1": 0.5, "recall@3": 1, "ndcg@1": 1, "mrr": 1, "precision@1": 1, "precision@3": 2 / 3}
    assert {name: best[name][0] for name in expected} == pytest.approx(expected)


def test_ceiling_of_recall_is_capped_by_k() -> None:
    """Ten relevant items: recall@5 cannot pass 0.5, nDCG@5 can reach 1."""
    best = ceiling(hits_from_indices([[]], [list(range(10))], 100), (5, 20))
    assert {name: best[name][0] for name in ("recall@5", "recall@20", "ndcg@5", "precision@20")} == {
        "recall@5": 0.5, "recall@20": 1.0, "ndcg@5": 1.0, "precision@20": 0.5
    }  # fmt: skip


def test_many_threads_at_once() -> None:
    """Pools of different sizes in one call give what each gives alone."""
    pairs = [(100, 10), (55, 2), (91, 1), (100, 10), (90, 0), (55, 3)]
    together = chance(hits_from_indices([[]] * 6, [range(r) for _, r in pairs], [n for n, _ in pairs]))
    assert together is not None
    for i, (n, r) in enumerate(pairs):
        alone = chance(hits_from_indices([[]], [range(r)], n))
        assert alone is not None
        assert {name: column[i] for name, column in together.items()} == {
            name: column[0] for name, column in alone.items()
        }


def test_no_threads() -> None:
    """Empty columns, no error."""
    values = chance(hits_from_indices([], [], []))
    assert values is not None
    assert all(column.shape == (0,) for column in values.values())


@pytest.mark.upstream
def test_published_pools(upstream_rows: list[dict[str, Any]], reference_metrics: dict[str, Any]) -> None:
    """Chance on the published file, to 1e-9: 20.42 % recall@20, 14.21 % ndcg@20, 22.08 % mrr."""
    references = references_of(upstream_rows)
    hits = hits_from_strings([None] * len(references), references.ground_truth, references.candidates)
    values = chance(hits)
    assert values is not None
    expected = reference_metrics["chance_exact"]["P"]["overall"]
    means = {name: values[name].mean() for name in expected if name != "n"}
    assert means == pytest.approx({name: value for name, value in expected.items() if name != "n"}, abs=1e-9, rel=0)
