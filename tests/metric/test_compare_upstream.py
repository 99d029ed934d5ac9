"""Comparison of simple rankings of the published file, against values from scipy and numpy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from musicrs_metric.base.genres import GENRE_OF_SUBREDDIT
from musicrs_metric.compare import Comparison, System, compare
from musicrs_metric.hits import hits_from_strings
from musicrs_metric.scoring import ThreadTable, thread_table

from .support import file_order, popularity

pytestmark = pytest.mark.upstream
METRICS = ["recall@1", "ndcg@1", "recall@5", "ndcg@5", "recall@10", "ndcg@10", "recall@20", "ndcg@20", "mrr"]

Rows = list[dict[str, Any]]


def table(rows: Rows, rankings: list[list[str]]) -> ThreadTable:
    gold, pools = [row["limited_gt"] for row in rows], [row["final_candidates"] for row in rows]
    return thread_table(hits_from_strings(rankings, gold, pools))


def rare_first(rows: Rows) -> list[list[str]]:
    """Popularity turned round."""
    return [ranking[::-1] for ranking in popularity(rows)]


def mean_of_random(rows: Rows, seeds: int) -> ThreadTable:
    """Per thread, the mean value of rankings in `seeds` random orders."""
    tables = []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        tables.append(table(rows, [rng.permutation(row["final_candidates"]).tolist() for row in rows]))
    means = {name: np.mean([one.values[name] for one in tables], axis=0) for name in tables[0].values}
    return replace(tables[0], values=means)


def both(rows: Rows) -> list[System]:
    return [
        System("popularity", table(rows, popularity(rows))),
        System("file order", table(rows, file_order(rows))),
    ]


@pytest.fixture(scope="module")
def popularity_against_file_order(upstream_rows: Rows) -> Comparison:
    return compare(both(upstream_rows), METRICS)


@pytest.mark.parametrize("metric", METRICS)
def test_popularity_minus_file_order(
    metric: str, popularity_against_file_order: Comparison, reference_metrics: dict[str, Any]
) -> None:
    """Difference, t and p are scipy's; the sign-flip p value and the interval agree within the noise of drawing."""
    (pair,) = popularity_against_file_order.metrics[metric].pairs
    expected = reference_metrics["extra"]["paired_tests_P_popularity_vs_file_order"][metric]
    assert pair.difference == pytest.approx(expected["mean_diff_popularity_minus_file_order"], abs=1e-12)
    assert pair.t == pytest.approx(expected["t"], abs=1e-9)
    assert pair.p_t == pytest.approx(expected["p_ttest_two_sided"], rel=1e-6)
    assert pair.wins + pair.losses == expected["n_nonzero"]
    assert pair.interval == pytest.approx(expected["boot95_diff"], abs=0.002)
    # Two runs of 10,000 and 20,000 flips differ by this much at three standard errors.
    p = expected["p_signflip_20000"]
    assert pair.p_flip == pytest.approx(p, abs=3 * np.sqrt(p * (1 - p) * (1 / 10_000 + 1 / 20_000)) + 1e-4)


def test_intervals_of_the_systems(popularity_against_file_order: Comparison, reference_metrics: dict[str, Any]) -> None:
    """The bootstrap intervals of both systems agree with others of another seed within .002."""
    expected = reference_metrics["extra"]["bootstrap_percentile95_P_20000_seed0"]
    for i, name in enumerate(["subreddit_popularity", "file_order"]):
        for metric in METRICS:
            found = popularity_against_file_order.metrics[metric].standings[i].interval
            assert found == pytest.approx(expected[name][metric], abs=0.002)


def test_shuffled_rows_change_nothing(upstream_rows: Rows, popularity_against_file_order: Comparison) -> None:
    """Threads in another order give the same differences and t values."""
    order = np.random.default_rng(0).permutation(len(upstream_rows)).tolist()
    shuffled = compare(both([upstream_rows[i] for i in order]), METRICS, resamples=100)
    for metric in METRICS:
        (found,), (expected,) = (c.metrics[metric].pairs for c in (shuffled, popularity_against_file_order))
        assert (found.difference, found.t) == pytest.approx((expected.difference, expected.t), abs=1e-9)


def test_chance_ranks_and_groups(upstream_rows: Rows) -> None:
    """Frequent first is below chance, rare first above, the mean of 20 random orders at it; groups follow suit."""
    systems = [
        System("frequent first", table(upstream_rows, popularity(upstream_rows))),
        System("random", mean_of_random(upstream_rows, 20)),
        System("rare first", table(upstream_rows, rare_first(upstream_rows))),
    ]
    for found in compare(systems).metrics.values():
        assert [one.chance.verdict for one in found.standings if one.chance] == ["below", "at", "above"]
        assert [one.group for one in found.standings] == [3, 2, 1]
        assert [one.rank_interval for one in found.standings] == [(3, 3), (2, 2), (1, 1)]


def test_genre_effects_add_up(upstream_rows: Rows) -> None:
    """The difference over all threads is the mean of the genres' differences, weighted by their threads."""
    genres = [GENRE_OF_SUBREDDIT[row["source_subreddit"]] for row in upstream_rows]
    (pair,) = compare(both(upstream_rows), ["recall@20"], groups={"genre": genres}).metrics["recall@20"].pairs
    effects = pair.by["genre"]
    assert sum(one.n * one.difference for one in effects.values()) / 477 == pytest.approx(pair.difference)
    assert sorted(genre for genre, one in effects.items() if one.small) == ["Jazz", "Metal", "Pop"]
