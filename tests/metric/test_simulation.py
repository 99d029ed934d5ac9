"""Do tests and intervals keep their level on simulated systems of known truth?

A smaller run of `python -m benchmarks.simulations`; the bounds are 3.3 binomial standard errors wide, so that a right
program fails one of the figures below about once in 50 changes of the seed.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from benchmarks.simulations import (
    ALPHA,
    METRICS,
    N_THREADS,
    SCENARIOS,
    Population,
    expected,
    published_threads,
    random_hits,
    random_rankings,
    simulate,
)

REPETITIONS = 400
ERROR = 3.3 * sqrt(ALPHA * (1 - ALPHA) / REPETITIONS)


@pytest.mark.figures
@pytest.mark.parametrize("scenario", list(SCENARIOS))
def test_levels_and_coverage(scenario: str) -> None:
    """False positives at alpha, at most alpha in a family of ten pairs, intervals that cover 95 %."""
    found = simulate(scenario, repetitions=REPETITIONS, resamples=1000, seed=1)
    assert any("coverage" in name for name in found)
    for name, share in found.items():
        level = 1 - ALPHA if "coverage" in name else ALPHA
        assert (share <= level + ERROR).all(), (name, share)
        # Holm's correction promises no more than an upper bound.
        assert "family" in name or (share >= level - ERROR).all(), (name, share)


def test_the_level_is_not_kept_without_pairing_or_correction() -> None:
    """The simulation can fail: ten uncorrected pairs raise a false alarm far more often than 5 % of the time."""
    from musicrs_metric.compare.pairs import all_pairs, compare_pairs, take_sample

    rng, threads = np.random.default_rng(0), published_threads()
    alarms = 0
    for _ in range(100):
        values = np.stack(SCENARIOS["independent"](rng, threads), axis=2)
        sample = take_sample(values, resamples=10, seed=0)
        alarms += compare_pairs(*all_pairs(values.shape[2]), sample.column(0)).p_t.min() <= ALPHA
    assert alarms / 100 > ALPHA + 3.3 * sqrt(ALPHA * (1 - ALPHA) / 100)


def test_simulated_ranks_are_uniform_draws() -> None:
    """Ten distinct ranks of 55 each time, every rank equally often."""
    ranks = random_hits(np.random.default_rng(0), np.full(20_000, 55), np.full(20_000, 10))
    assert (np.diff(np.sort(ranks, axis=1), axis=1) > 0).all()
    counts = np.bincount(ranks.reshape(-1), minlength=56)
    assert counts[0] == 0
    assert np.abs(counts[1:] / 20_000 - 10 / 55).max() < 0.012


def test_simulated_scores_average_to_exact_chance() -> None:
    """The truth that intervals are held against: 20.42, 14.21 and 22.08 % on the published pools."""
    threads = published_threads()
    assert len(threads.size) == N_THREADS
    exact = expected(threads).mean(axis=0)
    assert exact.tolist() == pytest.approx([0.2042, 0.1421, 0.2208], abs=5e-5)
    many = Population(np.tile(threads.size, 100), np.tile(threads.relevant, 100))
    means = random_rankings(np.random.default_rng(0), many).mean(axis=0)
    assert len(means) == len(METRICS)
    assert means == pytest.approx(exact, abs=0.004)
