"""What suggests that a run is not what its maker thinks: empty rankings, titles of other pools, filled answers."""

from __future__ import annotations

import pytest

from musicrs_metric.runs.diagnostics import Diagnostics
from musicrs_metric.runs.predictions import Prediction
from musicrs_metric.runs.read import score_predictions

from .support import references_of

THREADS = references_of(
    [
        {"name": f"t3_{name}", "source_subreddit": "jazz", "final_candidates": list("ABCD"), "limited_gt": ["A"]}
        for name in "abcde"
    ]
)


def diagnostics(*predictions: Prediction) -> Diagnostics:
    found = score_predictions(predictions, THREADS, confidence=None).diagnostics
    assert found is not None
    return found


def test_empty_rankings_are_named() -> None:
    """A thread without a prediction is another matter, which is told already."""
    found = diagnostics(Prediction("t3_a", ()), Prediction("t3_b", tuple("ABCD")))
    assert found.empty == ("t3_a",)
    assert list(found.sentences()) == ["1 ranking empty, counted as 0: t3_a."]


def test_the_first_unknown_title_of_three_threads_is_shown() -> None:
    """With thread and rank, so that whoever wrote the file sees what was meant; many of them are a warning."""
    found = diagnostics(*(Prediction(f"t3_{name}", ("A", f"x {name}", "y")) for name in "abcd"))
    assert found.examples == (("t3_a", 2, "x a"), ("t3_b", 2, "x b"), ("t3_c", 2, "x c"))
    examples, warning = found.sentences()
    assert examples.endswith("...")
    assert warning.startswith("Warning: 66.7 % of the ranked titles are unknown")


def test_a_few_unknown_titles_are_no_warning() -> None:
    """One of twenty is five percent."""
    rankings = [Prediction(f"t3_{name}", tuple("ABCD")) for name in "abcd"]
    (only,) = diagnostics(*rankings, Prediction("t3_e", ("A", "B", "C", "x"))).sentences()
    assert only == "Unknown to their pool: t3_e, rank 4: 'x'."


def test_nothing_odd_is_said_of_what_is_not() -> None:
    """Short rankings and repeated titles are counted elsewhere."""
    assert not list(diagnostics(Prediction("t3_a", ("A", "A"))).sentences())


def test_the_appended_part_can_be_left_out() -> None:
    """An empty answer then scores 0; one that does not say how much was appended keeps everything."""
    given = (
        Prediction("t3_a", tuple("ABCD"), n_answered=0),
        Prediction("t3_b", tuple("BACD"), scores=(4.0, 3.0, 2.0, 1.0), n_answered=1),
        Prediction("t3_c", tuple("BACD")),
    )
    values = score_predictions(given, THREADS, k=2, confidence=None, answered_only=True).scores.values
    assert values["recall@2"] == pytest.approx((0 + 0 + 1 + 0 + 0) / 5)
    assert values["mrr"] == pytest.approx((0 + 0 + 1 / 2 + 0 + 0) / 5)
