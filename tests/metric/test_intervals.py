"""Standard errors and intervals against scipy and independent values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from musicrs_metric import intervals
from musicrs_metric.hits import hits_from_strings
from musicrs_metric.intervals import LARGE_SAMPLE, mean_intervals, resampled_means, standard_error
from musicrs_metric.measures import Floats, measure

from .support import SYSTEMS, references_of

# Four standard errors of the difference of two 2.5 % quantiles of 10,000 draws each, in standard errors of the mean.
LUCK = 4 * np.sqrt(2 * 0.025 * 0.975 / 10_000) / stats.norm.pdf(stats.norm.ppf(0.025))


def skewed(n: int, columns: int = 3) -> Floats:
    """Values as scores have them: mostly 0, some 1, some between."""
    rng = np.random.default_rng(5)
    return np.clip(rng.normal(0.1, 0.3, size=(n, columns)), 0.0, 1.0)


@pytest.mark.parametrize("n", [10, 477])
def test_against_scipy(n: int) -> None:
    """Percentile bootstrap of each column, apart from what 10,000 resamples leave to luck."""
    values = skewed(n)
    found = mean_intervals(values)
    assert found is not None
    for j in range(values.shape[1]):
        expected = stats.bootstrap(
            (values[:, j],), np.mean, n_resamples=10_000, method="percentile", rng=np.random.default_rng(99)
        ).confidence_interval
        luck = LUCK * values[:, j].std() / np.sqrt(n)
        assert found.low[j] == pytest.approx(expected.low, abs=luck)
        assert found.high[j] == pytest.approx(expected.high, abs=luck)
    assert found.method == "percentile bootstrap"


def test_two_threads() -> None:
    """Of 0 and 1 a resample has the mean 0, 1/2 or 1, with probability 1/4, 1/2 and 1/4."""
    values = np.array([[0.0], [1.0]])
    for confidence, expected in ((0.6, (0.0, 1.0)), (0.4, (0.5, 0.5))):
        found = mean_intervals(values, confidence=confidence)
        assert found is not None
        assert (found.low[0], found.high[0]) == expected


def test_standard_error_against_scipy() -> None:
    """Sample standard deviation over the root of n."""
    values = skewed(50)
    assert standard_error(values) == pytest.approx(stats.sem(values, axis=0), abs=1e-15)


@pytest.mark.parametrize("n", [0, 1])
def test_too_few_threads(n: int) -> None:
    """With fewer than two there is nothing to vary: no interval rather than NaN or a point."""
    assert mean_intervals(np.zeros((n, 2))) is None
    assert standard_error(np.zeros((n, 2))) is None


def test_seed() -> None:
    """The same seed gives the same digits, another seed others that are near; global random state plays no part."""
    values = skewed(100)
    np.random.seed(0)  # noqa: NPY002 - the state that must not matter
    first = mean_intervals(values, seed=3)
    np.random.seed(1)  # noqa: NPY002
    second, other = mean_intervals(values, seed=3), mean_intervals(values, seed=4)
    assert first is not None
    assert second is not None
    assert other is not None
    assert (first.low == second.low).all()
    assert (first.low != other.low).all()
    assert first.low == pytest.approx(other.low, abs=LUCK * values.std() / np.sqrt(100))


def test_columns_share_their_draws() -> None:
    """A column and its double keep their ratio in every resample, and columns do not depend on their neighbours."""
    values = skewed(30, 2)
    both = np.stack([values[:, 0], 2 * values[:, 0], values[:, 1]], axis=1)
    means = resampled_means(both, resamples=50, seed=0)
    assert means[:, 1] == pytest.approx(2 * means[:, 0])
    assert means[:, 2] == pytest.approx(resampled_means(values, resamples=50, seed=0)[:, 1])


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawing at once or in blocks, the last one smaller, gives the same resamples."""
    values = skewed(20)
    means = resampled_means(values, resamples=101, seed=0)
    monkeypatch.setattr(intervals, "_DRAWS_AT_ONCE_FEW", 7 * 20)
    assert resampled_means(values, resamples=101, seed=0) == pytest.approx(means, abs=1e-15)
    assert means.shape == (101, 3)
    many = np.tile(values, 11)
    assert resampled_means(many, resamples=101, seed=0) == pytest.approx(np.tile(means, 11), abs=1e-15)


def test_constant_column() -> None:
    """No spread, no width."""
    for n in (5, LARGE_SAMPLE + 1):
        found = mean_intervals(np.full((n, 1), 0.25))
        assert found is not None
        assert (found.low[0], found.high[0]) == (0.25, 0.25)


def test_large_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit the normal interval stands in; the bootstrap would say the same to 0.002."""
    values = np.stack([skewed(LARGE_SAMPLE + 1, 1)[:, 0], np.arange(LARGE_SAMPLE + 1) % 20 == 0], axis=1)
    normal = mean_intervals(values)
    monkeypatch.setattr(intervals, "LARGE_SAMPLE", len(values))
    bootstrap = mean_intervals(values)
    assert normal is not None
    assert bootstrap is not None
    assert (normal.method, bootstrap.method) == ("normal", "percentile bootstrap")
    assert normal.low == pytest.approx(bootstrap.low, abs=0.002)
    assert normal.high == pytest.approx(bootstrap.high, abs=0.002)


def test_large_samples_stay_within_their_values() -> None:
    """One 1 among very many 0: the normal interval would begin below 0."""
    values = np.zeros((LARGE_SAMPLE + 1, 1))
    values[0] = 1.0
    found = mean_intervals(values)
    assert found is not None
    assert found.low[0] == 0.0 < found.high[0]


def test_confidence_sets_the_width() -> None:
    """Half of the resamples lie in the interval at 50 %."""
    values = skewed(60, 1)
    found = mean_intervals(values, confidence=0.5)
    means = resampled_means(values, resamples=10_000, seed=0)
    assert found is not None
    assert ((means >= found.low) & (means <= found.high)).mean() == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize(
    "settings",
    [{"confidence": c} for c in (0.0, 1.0, 95, -0.1, "0.9")]
    + [{"resamples": r} for r in (0, -5, 10.5, "100")]
    + [{"seed": s} for s in ("x", 1.5, -1, None, True, [1])],
)
def test_settings_out_of_range(settings: dict[str, Any]) -> None:
    """Refused by name, also where there are too few threads for an interval."""
    for n in (1, 5):
        with pytest.raises(ValueError, match=next(iter(settings))):
            mean_intervals(np.zeros((n, 1)), **settings)


@pytest.mark.upstream
@pytest.mark.parametrize("system", SYSTEMS)
def test_published_file(system: str, upstream_rows: list[dict[str, Any]], reference_metrics: dict[str, Any]) -> None:
    """Standard errors to 1e-9, and intervals of 20,000 resamples with another generator to 0.002."""
    references = references_of(upstream_rows)
    columns = measure(hits_from_strings(SYSTEMS[system](upstream_rows), references.ground_truth, references.candidates))
    expected = reference_metrics["extra"]["standard_errors_ddof1"][system]["P"]
    values = np.stack([columns[name] for name in expected], axis=1)
    error, found = standard_error(values), mean_intervals(values)
    assert error == pytest.approx([expected[name]["se"] for name in expected], abs=1e-9, rel=0)
    bounds = reference_metrics["extra"]["bootstrap_percentile95_P_20000_seed0"][system]
    assert found is not None
    assert np.stack([found.low, found.high], axis=1) == pytest.approx(
        np.array([bounds[name] for name in expected]), abs=0.002
    )
