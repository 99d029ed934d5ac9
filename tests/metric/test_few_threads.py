"""Random rankings of few threads: how often they are called better or worse than chance, and what intervals hold."""

from __future__ import annotations

import os
import subprocess
import sys
from math import sqrt
from pathlib import Path

import numpy as np
import pytest

from benchmarks.few_threads import MEASURES, SIZES, simulate, verdicts


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


@pytest.mark.parametrize("name", ["m13_few_threads.py", "m15_kappa.py"])
def test_case(cases: Path, name: str) -> None:
    """The reported inputs: every line says right."""
    checkout = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}  # builder_scripts is not installed
    done = subprocess.run([sys.executable, cases / name], capture_output=True, text=True, check=True, env=checkout)
    assert done.stdout.count("right") == len(done.stdout.splitlines()) > 0
    assert "WRONG" not in done.stdout
