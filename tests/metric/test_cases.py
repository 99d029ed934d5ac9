"""Failures that others have reported, each as a small input with its right result, worked out by hand.

Where a value has more than three digits it was computed with ir-measures, ranx or scikit-learn, which agree.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from musicrs_metric.errors import UserError
from musicrs_metric.runs.predictions import PredictionError, read_predictions
from musicrs_metric.runs.ranking import rank_by_score
from musicrs_metric.runs.read import score_predictions
from musicrs_metric.scoring import Scores, score

from .support import popularity, references_of, write_lines

A_TO_J = list("ABCDEFGHIJ")


def one(ranking: list[str], relevant: list[str], k: list[int], candidates: list[str] | None = None) -> Scores:
    return score([ranking], [relevant], None if candidates is None else [candidates], k=k)


@pytest.mark.parametrize("candidates", [None, ["A", "B", "X"]])
def test_repeated_items_count_once(candidates: list[str] | None) -> None:
    """A repeat keeps its first rank and later ranks close up; no value passes 1, and the repeats are counted."""
    first = one(["A", "A", "X", "B"], ["A", "B"], [1, 2, 3], candidates)
    expected = {"recall@1": 0.5, "recall@2": 0.5, "recall@3": 1.0, "ndcg@2": 0.613147, "ndcg@3": 0.919721, "mrr": 1.0}
    assert {name: first.values[name] for name in expected} == pytest.approx(expected, abs=1e-6)
    assert first.n_duplicate == 1
    second = one(["A", "A", "A"], ["A"], [1, 3], candidates)
    assert [second.values[name] for name in ("recall@1", "recall@3", "ndcg@3")] == [1.0, 1.0, 1.0]
    assert second.n_duplicate == 2


def test_repeated_ground_truth_counts_once() -> None:
    """A ground truth that names one item twice asks for one item."""
    result = one(["A"], ["A", "A"], [1])
    assert (result.values["recall@1"], result.values["ndcg@1"]) == (1.0, 1.0)


@pytest.mark.parametrize("cutoffs", [[1, 2, 3, 5, 20], [20, 5, 3, 2, 1], [1], [2], [3], [5], [20]])
def test_a_list_shorter_than_k(cutoffs: list[int]) -> None:
    """The ideal comes from the ground truth, not from what was returned; other cutoffs asked for change nothing."""
    recall = {1: 0.0, 2: 0.25, 3: 0.25, 5: 0.25, 20: 0.25}
    ndcg = {1: 0.0, 2: 0.386853, 3: 0.296082, 5: 0.246302, 20: 0.246302}
    result = one(["X", "A", "Y"], ["A", "B", "C", "D"], cutoffs)
    for k in cutoffs:
        assert result.values[f"recall@{k}"] == recall[k]
        assert result.values[f"ndcg@{k}"] == pytest.approx(ndcg[k], abs=1e-6)
    assert result.values["mrr"] == 0.5


@pytest.mark.parametrize("k", [0, -1, 1.5, True, "5", [], [5, 0]])
def test_cutoffs_that_are_none(k: Any) -> None:
    """Only positive integers are cutoffs."""
    with pytest.raises(ValueError, match="k must"):
        one(["A"], ["A"], k)


def test_empty_ground_truth() -> None:
    """Counted as 0 or left out, as asked; the result says which, how many were averaged, and which threads they are."""
    rows = [
        {"name": "q1", "source_subreddit": "jazz", "final_candidates": ["A", "X"], "limited_gt": ["A"]},
        {"name": "q2", "source_subreddit": "jazz", "final_candidates": ["A", "X"], "limited_gt": []},
        {"name": "q3", "source_subreddit": "metal", "final_candidates": ["X", "B", "C"], "limited_gt": ["B", "C"]},
    ]
    predictions = [["A", "X"], ["A", "X"], ["X", "B", "C"]]
    references = references_of(rows)
    zero = score(predictions, references.ground_truth, k=[1, 2, 3])
    skip = score(predictions, references.ground_truth, k=[1, 2, 3], empty="skip")
    expected = {"recall@1": 1 / 3, "recall@2": 0.5, "ndcg@3": 0.564475, "mrr": 0.5}
    assert {name: zero.values[name] for name in expected} == pytest.approx(expected, abs=1e-6)
    expected = {"recall@1": 0.5, "recall@2": 0.75, "ndcg@3": 0.846713, "mrr": 0.75}
    assert {name: skip.values[name] for name in expected} == pytest.approx(expected, abs=1e-6)
    assert (zero.n, zero.n_empty, zero.settings["empty"]) == (3, 1, "zero")
    assert (skip.n, skip.n_empty, skip.settings["empty"]) == (2, 1, "skip")


def test_predictions_in_another_order(tmp_path: Path) -> None:
    """Lines are joined by id; pairing them by position would give recall@1 0 and mrr 0.444444."""
    pool = ["A", "B", "C"]
    rows = [
        {"name": name, "source_subreddit": "jazz", "final_candidates": pool, "limited_gt": [right]}
        for name, right in (("q1", "A"), ("q2", "B"), ("q3", "C"))
    ]
    lines = [
        {"id": "q3", "ranking": ["C", "A", "B"]},
        {"id": "q1", "ranking": ["A", "B", "C"]},
        {"id": "q2", "ranking": ["A", "B", "C"]},
    ]
    run = score_predictions(write_lines(tmp_path / "p.jsonl", lines), references_of(rows))
    assert run.scores.values["recall@1"] == pytest.approx(2 / 3)
    assert run.scores.values["mrr"] == pytest.approx(0.833333, abs=1e-6)
    with pytest.raises(ValueError, match="one entry per thread"):
        score([["A"], ["B"]], [["A"]])


@pytest.mark.upstream
def test_the_real_file_in_reverse(tmp_path: Path, upstream_rows: list[dict[str, Any]]) -> None:
    """Popularity written last row first scores as it does in file order."""
    rankings = popularity(upstream_rows)
    lines = [{"id": row["name"], "ranking": ranking} for row, ranking in zip(upstream_rows, rankings, strict=True)]
    references = references_of(upstream_rows)
    run = score_predictions(write_lines(tmp_path / "p.jsonl", lines[::-1]), references)
    assert run.scores == score_predictions(write_lines(tmp_path / "q.jsonl", lines), references).scores
    assert run.scores.values["recall@20"] == pytest.approx(0.165123, abs=1e-6)
    assert run.empty_threads == ("t3_w0u4xg", "t3_2s31ho", "t3_vqpkqj", "t3_37zhsf", "t3_2jfbbe")


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ({"A": math.nan, "B": 1.0, "C": 0.5}, "the score of A is nan"),
        ({"B": 1.0, "A": math.nan, "D": 2.0, "C": 0.5}, "the score of A is nan"),
        ({"A": math.nan, "B": math.nan, "C": math.nan}, "the score of A is nan"),
        ({"A": None, "B": 1.0}, "the score of A is null"),
        ({"A": 1.0, "B": "2.0"}, "the score of B is '2.0'"),
    ],
)
def test_scores_that_have_no_order(scores: dict[str, Any], said: str) -> None:
    """NaN and null have no place in a ranking, whatever stands around them; the item is named."""
    with pytest.raises(UserError, match=said):
        rank_by_score(list(scores), list(scores.values()))


def test_infinite_scores_have_an_order() -> None:
    """Infinities rank first and last; a file cannot hold them, since JSON cannot."""
    assert rank_by_score(["A", "B", "C"], [-math.inf, math.inf, 0.5]) == ["B", "C", "A"]


def test_ties_keep_the_order_of_the_pool() -> None:
    """Equal scores stay in stored order, in integers as in floats."""
    assert rank_by_score(["d", "b", "a", "c"], [1, 2, 1, 2]) == ["b", "c", "d", "a"]
    assert rank_by_score(["d", "b", "a"], [0.0, -0.0, 0.0]) == ["d", "b", "a"]
    with pytest.raises(UserError, match="found 1 scores for 2 candidates"):
        rank_by_score(["a", "b"], [1.0])


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "null", "1e400"])
def test_a_file_with_numbers_that_are_none(tmp_path: Path, value: str) -> None:
    """Refused with the thread and the field named."""
    text = '{"thread_id": "t3_a", "ranking": ["A", "B"], "scores": [1.0, %s]}' % value  # noqa: UP031 - braces
    with pytest.raises(PredictionError, match="thread t3_a, field 'scores': item 2 is"):
        read_predictions(write_lines(tmp_path / "p.jsonl", [text]))


def test_results_hold_no_nan() -> None:
    """One thread, no thread left, no pools: undefined values are null."""
    for result in (one(["A"], ["A"], [1]), score([["A"]], [[]], [["A"]], empty="skip"), score([[]], [[]])):
        json.dumps(result.to_dict(), allow_nan=False)


# (as ranked, as in the pool, whether the published rule with composed Unicode takes them for one title)
SAME_TITLE = [
    ("De\u0301ja\u0300 Vu", "D\u00e9j\u00e0 Vu", True),  # decomposed accents, as on macOS
    ("\u304b\u3099\u30fc\u30cd\u30c3\u30c8", "\u304c\u30fc\u30cd\u30c3\u30c8", True),  # kana with a combining mark
    ("You\u2019ve Got to Have Freedom", "You've Got to Have Freedom", True),
    ("\u201cI Will Wait\u201d", "I Will Wait", True),
    ('"eternal triangle"', "Eternal Triangle", True),
    ("  Dirrty\t", "Dirrty", True),
    ("4'33\"", "4'33", True),  # the rule takes the seconds sign for a quote
    ("Say\u00a0My Name", "Say My Name", False),  # no-break space inside
    ("\u200bHello", "Hello", False),  # zero-width space
    ("\uff21\uff49\uff4e\u2019\uff54", "Ain't", False),  # full-width letters
    ("S&amp;M", "S&M", False),
    ("do you\u2026", "do you...", False),
    ("STRASSE", "Stra\u00dfe", False),
    ("\u0130stanbul", "istanbul", False),  # lower case has one code point more
    ("Resume", "R\u00e9sum\u00e9", False),
    ('"', "", False),  # what has no letters names nothing
]


@pytest.mark.parametrize(("ranked", "stored", "same"), SAME_TITLE)
@pytest.mark.parametrize("turned", [False, True])
def test_same_title_other_code_points(ranked: str, stored: str, same: bool, turned: bool) -> None:
    """The scorer follows the published rule plus NFC, no more and no less, in both directions."""
    ranked, stored = (stored, ranked) if turned else (ranked, stored)
    for pool in (None, [[stored, "Other"]]):
        result = score([[ranked]], [[stored]], pool, k=1)
        assert result.values["recall@1"] == float(same)
    assert result.n_unknown == int(not same)


def test_recall_is_neither_hit_rate_nor_capped() -> None:
    """Ten relevant items and k below ten tell the three definitions apart."""
    first = one(["A", "x1", "x2", "B", "x3"], A_TO_J, [1, 5])
    expected = {"recall@1": 0.1, "recall@5": 0.2, "hit@1": 1.0, "hit@5": 1.0, "ndcg@1": 1.0, "ndcg@5": 0.485229}
    assert {name: first.values[name] for name in expected} == pytest.approx(expected, abs=1e-6)
    assert first.values["mrr"] == 1.0
    second = one(["A", "B", "C", "x1", "D"], A_TO_J, [3, 5, 10, 20])
    expected = {"ndcg@3": 1.0, "ndcg@5": 0.853932, "ndcg@10": 0.554143, "ndcg@20": 0.554143}
    assert {name: second.values[name] for name in expected} == pytest.approx(expected, abs=1e-6)


@pytest.mark.upstream
def test_recall_and_hit_rate_of_the_real_file(upstream_rows: list[dict[str, Any]]) -> None:
    """Popularity: recall 0.165123 and hit rate 0.719078 at 20; capped recall at 5 would be 0.064850."""
    references = references_of(upstream_rows)
    values = score(popularity(upstream_rows), references.ground_truth, references.candidates, k=[5, 20]).values
    expected = {"recall@20": 0.165123, "hit@20": 0.719078, "recall@5": 0.037668, "ndcg@5": 0.061714}
    assert {name: values[name] for name in expected} == pytest.approx(expected, abs=1e-6)


GOOD = {"id": "t3_vkhefz", "ranking": ["Canon", "Everytime"]}


@pytest.mark.parametrize(
    ("lines", "where"),
    [
        ([{"id": "t3_a", "ranking": "Canon, Everytime"}], (1, "ranking")),
        ([GOOD, {"id": "t3_2t1q0j"}, GOOD], (2, "ranking")),
        ([GOOD, '{"id": "t3_2t1q0j", "ranking": ["a"', GOOD], (2, None)),
        (['[{"id": "t3_vkhefz", "ranking": ["Canon"]}]'], (None, None)),
        ([], (None, None)),
        (["", " ", ""], (None, None)),
    ],
)
def test_submissions_that_are_refused(tmp_path: Path, lines: list[Any], where: tuple[int | None, str | None]) -> None:
    """A ranking as one string, a row without one, broken JSON, an array, nothing: place and expected form are told."""
    with pytest.raises(PredictionError) as error:
        read_predictions(write_lines(tmp_path / "p.jsonl", lines))
    (fault,) = error.value.faults
    assert (fault.line, fault.field) == where
    assert "expected" in fault.message or "not JSON" in fault.message


def test_a_submission_with_the_authors_keys(tmp_path: Path) -> None:
    """`name` and `predicted` are read like the field names, and judged by their threads."""
    path = write_lines(tmp_path / "p.jsonl", [{"name": "t3_vkhefz", "predicted": ["Canon", "Everytime"]}])
    rows = [{"name": "t3_vkhefz", "source_subreddit": "jazz", "final_candidates": ["Canon"], "limited_gt": ["Canon"]}]
    assert score_predictions(path, references_of(rows)).scores.values["recall@1"] == 1.0
    with pytest.raises(PredictionError, match="line 1: thread t3_vkhefz, field 'thread_id': not in dataset"):
        read_predictions(path, references_of([rows[0] | {"name": "t3_other"}]))
