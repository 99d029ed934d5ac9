"""Random rankings of few threads: how often they are called better or worse than chance, and what intervals hold."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from benchmarks.few_threads import MEASURES, SIZES, simulate, verdicts
from builder_scripts.annotate.kappa import cohen
from builder_scripts.annotate.votes import Question, QuestionVotes
from musicrs_metric.scoring import score


def test_verdicts_of_random_rankings() -> None:
    """At most 2.5 % and three standard errors on each side, for every number of threads of the benchmark."""
    repetitions = 800
    most = 0.025 + 3 * sqrt(0.025 * 0.975 / repetitions)
    for n in SIZES[:-1]:
        for shares in verdicts(np.random.default_rng([1, n]), n, repetitions):
            assert shares.max() <= most, (n, dict(zip(MEASURES, shares.tolist(), strict=True)))


def test_coverage_for_few_threads() -> None:
    """Intervals of skewed values hold the mean of all threads in at least 90 % of the samples."""
    counted = simulate(7, repetitions=200, resamples=1000)
    assert counted.coverage.min() >= 0.9
    assert counted.student_coverage.min() < 0.6  # what the method is there for


@pytest.mark.figures
@pytest.mark.parametrize("n", SIZES)
def test_the_whole_simulation(n: int) -> None:
    """2,000 repetitions: verdicts at most 3.5 % on each side; coverage 90 % below 18 threads, 93 % from there on."""
    counted = simulate(n, repetitions=2000)
    assert max(counted.above.max(), counted.below.max()) <= 0.035
    assert counted.coverage.min() >= (0.93 if n >= 18 else 0.9)


def test_m13_random_rankings_of_few_threads() -> None:
    """At most 3 % of 200 random rankings are below chance on recall@1, of which 2.5 % are expected at most."""
    rng = np.random.default_rng(0)
    pool = [f"Title {i}" for i in range(100)]
    for n in (7, 18, 36):
        below = 0
        for _ in range(200):
            truth = [[pool[i] for i in rng.choice(100, 7, replace=False)] for _ in range(n)]
            ranked = [[pool[i] for i in rng.permutation(100)] for _ in range(n)]
            below += score(ranked, truth, [pool] * n, k=(1, 20), resamples=400).verdict("recall@1") == "below"
        assert below <= 12, n


def test_m13_six_misses_are_not_below_chance() -> None:
    """Chance gives six misses of recall@1 in 83 % of cases, 0.97 to the power of 6."""
    pool = [f"Title {i}" for i in range(100)]
    six = score([pool] * 6, [[pool[50], pool[60], pool[70]]] * 6, [pool] * 6, k=(1, 20))
    assert six.verdict("recall@1") == "at"


def test_m15_kappa_of_an_annotator_who_always_says_the_same() -> None:
    """Five of six equal: an interval of kappa, if there is one, is not a point."""
    votes = [("relevant", "relevant")] * 5 + [("relevant", "irrelevant")]
    all_votes = [
        QuestionVotes(Question(f"t3_{i:03d}", "entity", "song: Amber Road"), dict(zip("ABC", row, strict=False)))
        for i, row in enumerate(votes)
    ]
    kappa = cohen(all_votes, "entity", ("A", "B"), resamples=1000, seed=0)
    assert kappa is not None
    assert kappa.low is None or (kappa.high is not None and kappa.high - kappa.low >= 0.01)
