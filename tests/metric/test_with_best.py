"""Groups by comparison with the best: rows that are worse change nothing, and equal systems stay together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from musicrs_metric.compare import HEADLINE, System
from musicrs_metric.compare.ranks import GrowingRanks, groups_with_best, rank_bounds
from musicrs_metric.compare.significance import paired_p
from musicrs_metric.compare.standings import StandingsMemory, measure_alone, standings
from musicrs_metric.runs.read import score_predictions
from tests.space.toy import ranked, references

N = 60


def with_gaps(*gaps: float) -> np.ndarray:
    """Columns whose difference from the first has the mean `-gap` and a standard error of exactly 1 / sqrt(N - 1)."""
    noise = np.resize([1.0, -1.0], N)
    return np.stack([np.zeros(N), *(noise - gap for gap in gaps)], axis=1)


def test_by_hand() -> None:
    """t is gap * sqrt(59). On 59 degrees of freedom the two-sided 5 % point is 2.001, that of 2.5 % is 2.300."""
    t = np.array([1.9, 2.1, 2.4])
    values = with_gaps(*(t / np.sqrt(N - 1)))
    assert paired_p(values[:, :1] - values[:, 1:]) == pytest.approx([0.0623, 0.0400, 0.0196], abs=1e-4)
    # The second stays. The third is then one of two: 2 * 0.0400 > 0.05. The fourth is one of three: 3 * 0.0196 > 0.05.
    assert groups_with_best(values).tolist() == [1, 1, 1, 1]
    # Without the second, the third leaves alone, and so does the fourth. They differ from each other on every thread
    # by the same amount, so the sign-flip test separates them.
    assert groups_with_best(values[:, [0, 2, 3]]).tolist() == [1, 2, 3]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 8), st.integers(0, 200), st.floats(0.0, 0.3))
def test_worse_rows_change_nothing(seed: int, n: int, n_worse: int, spread: float) -> None:
    """Up to 200 rows with lower means, whatever their noise, leave every group as it was, wherever they are listed."""
    rng = np.random.default_rng(seed)
    values = rng.random((N, n)) + spread * np.arange(n)
    worse = rng.random((N, n_worse)) * rng.choice([0.1, 1.0, 3.0])
    worse += values.mean(axis=0).min() - 0.01 - worse.mean(axis=0)
    order = rng.permutation(n + n_worse)
    mixed = groups_with_best(np.concatenate([values, worse], axis=1)[:, order])
    assert mixed[np.argsort(order)][:n].tolist() == groups_with_best(values).tolist()


@pytest.mark.parametrize("n", [2, 5, 40])
def test_equal_systems_leave_the_first_group_rarely(n: int) -> None:
    """Of systems that are equally good, a given one is separated from the best in at most 5 % of the samples."""
    rng = np.random.default_rng(n)
    left = sum(int(groups_with_best(rng.random((N, n)))[0] > 1) for _ in range(600))
    assert left / 600 <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 600)


def test_strong_evidence_outlasts_many_rows() -> None:
    """60 random rows do not tie 48 others with a best system that each of them differs from with p = 4e-6."""
    rng = np.random.default_rng(1)
    random = rng.random((N, 108))
    best = 0.5 + 0.1 * rng.standard_normal(N) + 5.2 * 0.31 / np.sqrt(N)
    assert (groups_with_best(np.column_stack([best, random]))[1:] > 1).all()
    assert groups_with_best(np.column_stack([best, random]))[0] == 1


def test_copies_stay_together() -> None:
    """Two equal columns differ on no thread; the order of the columns does not matter."""
    values = np.random.default_rng(2).random((N, 3))
    assert len(set(groups_with_best(np.column_stack([values[:, 0], values]))[:2])) == 1


def test_ranks_of_systems_that_come_and_go() -> None:
    """After any sequence of arrivals and removals they are those of all systems ranked at once, with ties."""
    rng = np.random.default_rng(0)
    drawn: dict[Any, Any] = {key: rng.random(100).astype(np.float32).round(2) for key in range(60)}
    growing, shown = GrowingRanks(), [0]
    for _ in range(120):
        if len(shown) > 1 and rng.random() < 0.4:
            shown.pop(int(rng.integers(len(shown))))
        new = [key for key in rng.integers(0, 60, rng.integers(0, 12)).tolist() if key not in shown]
        shown += dict.fromkeys(new)
        low, high = growing.bounds({key: drawn[key] for key in shown}, 0.95)
        expected = rank_bounds(np.stack([drawn[key] for key in shown], axis=1), 0.95)
        assert (low.tolist(), high.tolist()) == tuple(ends.tolist() for ends in expected)


def test_a_memory_of_comparisons_changes_no_standing() -> None:
    """Rows arrive and leave; each time the standings are those without a memory."""
    tables = [score_predictions(ranked(i, skill=i / 9), references()).table for i in range(9)]
    systems = [System(f"s{i}", table, "thread") for i, table in enumerate(tables)]
    alone, memory = [measure_alone(system, HEADLINE, resamples=1_000) for system in systems], StandingsMemory()
    for shown in ([0, 1, 2], [0, 1, 2, 3], [0, 8, 1, 2, 3], [8, 1, 2, 3], [7, 6, 5, 8, 1, 2, 3], [4, 0]):
        chosen, own = [systems[i] for i in shown], [alone[i] for i in shown]
        assert standings(chosen, HEADLINE, alone=own, keys=shown, memory=memory) == standings(
            chosen, HEADLINE, alone=own
        )
