"""Comparisons of small systems whose figures can be worked out by hand."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from musicrs_metric.compare import Comparison, System, compare
from musicrs_metric.compare.results import Pair
from musicrs_metric.hits import hits_from_strings
from musicrs_metric.runs.run_card import Reads
from musicrs_metric.scoring import summarise, thread_table

POOL = list("abcdefghij")


def system(
    name: str, places: Sequence[int | None], *, reads: Reads | None = None, no_audio: Sequence[bool] | None = None
) -> System:
    """A system that puts the one relevant candidate, a, at the given rank of each thread; None is no prediction."""
    rankings = [None if place is None else [*POOL[1:place], "a", *POOL[place:]] for place in places]
    hits = hits_from_strings(rankings, [["a"]] * len(places), [POOL] * len(places))
    silent = None if no_audio is None else np.array(no_audio)
    return System(name, thread_table(hits, (1, 5)), reads, silent)


def only_pair(comparison: Comparison, metric: str = "mrr") -> Pair:
    (pair,) = comparison.metrics[metric].pairs
    return pair


def test_difference_and_counts_by_hand() -> None:
    """Reciprocal ranks 1, 1/2, 1/4 against 1/2, 1/2, 1/2: one win, one tie, one loss, mean difference 1/12."""
    pair = only_pair(compare([system("A", [1, 2, 4]), system("B", [2, 2, 2])], ["mrr"]))
    assert (pair.a, pair.b, pair.wins, pair.ties, pair.losses) == ("A", "B", 1, 1, 1)
    assert pair.difference == pytest.approx(1 / 12)


def test_a_system_against_itself() -> None:
    """Difference 0, interval [0, 0], p = 1, and no warning, under every metric."""
    places = [1, 2, 3, 7, 9, 2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        comparison = compare([system("A", places), system("B", places)], ["mrr", "recall@1", "ndcg@5"])
    for found in comparison.metrics.values():
        (pair,) = found.pairs
        assert (pair.difference, pair.interval) == (0.0, (0.0, 0.0))
        assert (pair.p_t, pair.p_flip, pair.p_t_holm, pair.p_flip_holm) == (1.0, 1.0, 1.0, 1.0)
        assert (pair.t, pair.significant, pair.ties) == (None, False, 6)
        assert [(one.rank, one.rank_interval, one.group) for one in found.standings] == [(1, (1, 1), 1)] * 2


def test_order_of_threads_does_not_matter() -> None:
    """The same threads in another order: same difference and t, the draws apart."""
    a, b, order = [1, 2, 4, 8, 3, 5], [2, 2, 1, 9, 5, 5], [3, 0, 5, 1, 4, 2]
    straight = only_pair(compare([system("A", a), system("B", b)], ["mrr"]))
    shuffled = only_pair(compare([system("A", [a[i] for i in order]), system("B", [b[i] for i in order])], ["mrr"]))
    assert shuffled.difference == pytest.approx(straight.difference, abs=1e-15)
    assert shuffled.t == pytest.approx(straight.t)
    assert (shuffled.wins, shuffled.losses) == (straight.wins, straight.losses)


def test_same_seed_same_digits() -> None:
    """Twice the same call gives the same JSON; another seed does not."""
    rng = np.random.default_rng(0)
    systems = [system(name, rng.integers(1, 11, 40).tolist()) for name in "ABC"]
    first, again, other = (compare(systems, ["mrr"], seed=seed, resamples=500).to_dict() for seed in (1, 1, 2))
    assert json.dumps(first) == json.dumps(again)
    assert first["metrics"] != other["metrics"]


def test_a_pair_does_not_depend_on_who_else_is_compared() -> None:
    """A and B have the same interval and sign-flip p value alone and beside C."""
    rng = np.random.default_rng(4)
    a, b, c = (system(name, rng.integers(1, 11, 40).tolist()) for name in "ABC")
    alone = only_pair(compare([a, b], ["mrr"]))
    beside = compare([a, b, c], ["mrr", "recall@5"]).metrics["mrr"].pairs[0]
    assert beside.interval == pytest.approx(alone.interval, abs=1e-12)
    assert (beside.p_flip, beside.p_t) == pytest.approx((alone.p_flip, alone.p_t), abs=1e-12)


def test_means_and_intervals_are_those_of_the_scores() -> None:
    """A comparison shows the very figures that scoring one system shows."""
    one = system("A", np.random.default_rng(5).integers(1, 11, 50).tolist())
    scores = summarise(one.table)
    standing = compare([one, system("B", [1] * 50)], ["recall@5"]).metrics["recall@5"].standings[0]
    assert scores.interval is not None
    assert standing.mean == scores.values["recall@5"]
    assert standing.interval == pytest.approx(scores.interval["recall@5"], abs=1e-12)


def test_one_thread_has_no_interval() -> None:
    """With a single thread nothing is NaN: intervals and detectable differences are None, p is 1."""
    comparison = compare([system("A", [1]), system("B", [2])], ["mrr"])
    pair, standing = only_pair(comparison), comparison.metrics["mrr"].standings[0]
    assert (pair.interval, pair.t, pair.detectable, pair.p_t, pair.p_flip) == (None, None, None, 1.0, 1.0)
    assert (standing.interval, standing.rank_interval) == (None, None)
    json.dumps(comparison.to_dict(), allow_nan=False)


def test_against_chance() -> None:
    """Always first is above chance, always last below, and uniform ranks are at it: chance of mrr is H(10) / 10."""
    uniform = list(range(1, 11)) * 4
    systems = [system("best", [1] * 40), system("worst", [10] * 40), system("uniform", uniform)]
    found = compare(systems, ["mrr"]).metrics["mrr"]
    assert found.chance == pytest.approx(sum(1 / r for r in range(1, 11)) / 10)
    verdicts = [one.chance.verdict for one in found.standings if one.chance]
    assert verdicts == ["above", "below", "at"]
    assert found.standings[2].chance is not None
    assert found.standings[2].chance.difference == pytest.approx(0, abs=1e-15)


def test_without_pools_there_is_no_chance() -> None:
    """Rankings judged without candidates are compared all the same, with chance unknown."""
    tables = [thread_table(hits_from_strings([ranking] * 3, [["a"]] * 3)) for ranking in (["a"], ["b", "a"])]
    found = compare([System("A", tables[0]), System("B", tables[1])], ["mrr"]).metrics["mrr"]
    assert (found.chance, found.standings[0].chance) == (None, None)


def test_holm_is_over_all_pairs_of_a_metric() -> None:
    """With three systems the smallest of three p values is multiplied by 3."""
    rng = np.random.default_rng(6)
    systems = [system(name, rng.integers(low, 11, 60).tolist()) for name, low in (("A", 1), ("B", 3), ("C", 6))]
    pairs = compare(systems, ["mrr"]).metrics["mrr"].pairs
    smallest = min(pairs, key=lambda pair: pair.p_t)
    assert smallest.p_t_holm == pytest.approx(3 * smallest.p_t)
    assert [pair.significant for pair in pairs] == [pair.p_t_holm <= 0.05 for pair in pairs]


def test_ranks_are_formed_among_systems_that_read_the_same() -> None:
    """A system that reads labels leads its own class and does not push the others down."""
    systems = [
        system("labels", [1] * 30, reads="labels"),
        system("good", [2] * 30, reads="thread"),
        system("poor", [9] * 30, reads="thread"),
    ]
    standings = compare(systems, ["mrr"]).metrics["mrr"].standings
    assert [(one.rank, one.group) for one in standings] == [(1, 1), (1, 1), (2, 2)]


def test_effects_by_group() -> None:
    """Each group has its own mean difference. One of fewer than 50 is small, one of fewer than 5 has no interval."""
    a, b = [1] * 60 + [2, 2, 2] + [1], [2] * 60 + [1, 1, 1] + [1]
    genres = ["Metal"] * 60 + ["Pop"] * 3 + ["Jazz"]
    effects = only_pair(compare([system("A", a), system("B", b)], ["mrr"], groups={"genre": genres})).by["genre"]
    assert list(effects) == ["Jazz", "Metal", "Pop"]
    found = [(one.n, one.difference, one.small) for one in effects.values()]
    assert found == [(1, 0, True), (60, 0.5, False), (3, -0.5, True)]
    assert (effects["Jazz"].interval, effects["Pop"].interval) == (None, None)
    assert effects["Jazz"].interval_reason == "1 thread, an interval needs at least 5"
    # Sixty equal differences leave room for others: 0.025 ** (1 / 60) of the weight is theirs, the rest -1 or 1.
    known = 0.025 ** (1 / 60)
    assert effects["Metal"].interval == pytest.approx((0.5 * known - (1 - known), 0.5 * known + (1 - known)))


def test_common_ground() -> None:
    """A silent thread and an unanswered one leave two common threads; all four are compared, both means are shown."""
    listener = system("audio", [1, 1, 1, 1], no_audio=[True, False, False, False])
    reader = system("text", [2, 1, 2, None])
    comparison = compare([listener, reader], ["mrr"])
    standings = comparison.metrics["mrr"].standings
    assert (comparison.n, comparison.n_common) == (4, 2)
    assert [(one.mean, one.common_mean) for one in standings] == [(1.0, 1.0), (0.5, 0.75)]
    assert [(one.n_missing, one.n_no_audio) for one in comparison.coverage] == [(0, 1), (1, 0)]


def test_comparison_on_common_ground_only() -> None:
    """Asked for, everything is over the two threads that both answered."""
    listener = system("audio", [1, 1, 1, 1], no_audio=[True, False, False, False])
    comparison = compare([listener, system("text", [2, 1, 2, None])], ["mrr"], common_only=True)
    assert (comparison.n, comparison.n_common, only_pair(comparison).difference) == (2, 2, 0.25)


def test_empty_ground_truth_can_be_left_out() -> None:
    """A thread with nothing relevant counts as 0 for both, or not at all."""
    tables = [
        thread_table(hits_from_strings([ranking, ["a"]], [["a"], []], [POOL, POOL])) for ranking in (["a"], ["b"])
    ]
    systems = [System(name, table) for name, table in zip("AB", tables, strict=True)]
    counted, skipped = compare(systems, ["mrr"], empty="zero"), compare(systems, ["mrr"], empty="skip")
    assert [(one.n, one.n_empty, only_pair(one).difference) for one in (counted, skipped)] == [(2, 1, 0.5), (1, 1, 1.0)]


def test_refuses_what_cannot_be_paired() -> None:
    """One system, two of a name, other threads, unknown metrics and odd settings are named."""
    a, b = system("A", [1, 2]), system("B", [2, 2])
    other = replace(b, table=system("C", [1, 2, 3]).table)
    refusals: list[tuple[list[System], dict[str, Any], str]] = [
        ([a], {}, "at least 2"),
        ([a, a], {}, "have the name 'A'"),
        ([a, other], {}, "not over the same threads"),
        ([a, b], {"metrics": ["recall@7"]}, "recall@7"),
        ([a, b], {"alpha": 1.0}, "alpha"),
        ([a, b], {"resamples": 0}, "resamples"),
        ([a, b], {"empty": "drop"}, "drop"),
        ([a, b], {"groups": {"genre": ["Pop"]}}, "genre"),
        ([a, system("B", [None, None])], {"common_only": True}, "no thread"),
    ]
    for systems, settings, message in refusals:
        options: dict[str, Any] = {"metrics": ["mrr"], **settings}
        with pytest.raises(ValueError, match=message):
            compare(systems, **options)
