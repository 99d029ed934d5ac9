"""Standard errors and intervals against scipy and independent values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from musicrs_metric import intervals
from musicrs_metric.hits import hits_from_strings
from musicrs_metric.intervals import (
    BOOTSTRAP_SAMPLE,
    DIFFERENCES,
    LARGE_SAMPLE,
    SMALLEST_SAMPLE,
    column_quantiles,
    mean_intervals,
    resample,
    standard_error,
    why_no_interval,
)
from musicrs_metric.measures import Floats, measure

from .support import SYSTEMS, references_of

# Four standard errors of the difference of two 2.5 % quantiles of 10,000 draws each, in standard errors of the mean.
LUCK = 4 * np.sqrt(2 * 0.025 * 0.975 / 10_000) / stats.norm.pdf(stats.norm.ppf(0.025))


def skewed(n: int, columns: int = 3) -> Floats:
    """Values as scores have them: mostly 0, some 1, some between."""
    rng = np.random.default_rng(5)
    return np.clip(rng.normal(0.1, 0.3, size=(n, columns)), 0.0, 1.0)


@pytest.mark.parametrize("n", [BOOTSTRAP_SAMPLE, 477])
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


@pytest.mark.parametrize("n", [5, 18, BOOTSTRAP_SAMPLE - 1])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
def test_zeros_and_ones_have_the_bounds_of_clopper_and_pearson(n: int, share: float) -> None:
    """For values of 0 and 1 the method is that of Clopper and Pearson, apart from the noise of the resamples."""
    hits = round(share * n)
    found = mean_intervals(np.repeat([0.0, 1.0], [n - hits, hits])[:, None])
    assert found is not None
    assert found.method == "Gaffke bounds"
    expected = stats.binomtest(hits, n).proportion_ci(method="exact")
    assert (found.low[0], found.high[0]) == pytest.approx((expected.low, expected.high), abs=0.012)


def test_the_end_on_the_side_of_the_tail_moves_out() -> None:
    """Of 477 threads 12 score 1: the upper end is less than 0.1 points above that of the bootstrap, and mirrored."""
    values = np.repeat([0.0, 1.0], [465, 12])[:, None]
    found, mirrored = mean_intervals(values), mean_intervals(1 - values)
    assert found is not None
    assert mirrored is not None
    low, high = np.quantile(resample(values, resamples=10_000, seed=0).means, [0.025, 0.975], axis=0)
    assert found.low == pytest.approx(low)
    assert 0 < found.high[0] - high[0] < 1e-3
    assert mirrored.low == pytest.approx(1 - found.high)
    assert mirrored.high == pytest.approx(1 - found.low)


def test_differences_have_a_wider_range() -> None:
    """Differences of -1, 0 and 1: the interval of the mean is twice that of (1 + value) / 2, which is in [0, 1]."""
    values = np.array([[-1.0], [0.0], [0.0], [1.0], [0.0], [1.0], [1.0]])
    differences, shares = mean_intervals(values, bounds=DIFFERENCES), mean_intervals((1 + values) / 2)
    assert differences is not None
    assert shares is not None
    assert differences.low == pytest.approx(2 * shares.low - 1)
    assert differences.high == pytest.approx(2 * shares.high - 1)


def test_standard_error_against_scipy() -> None:
    """Sample standard deviation over the root of n."""
    values = skewed(50)
    assert standard_error(values) == pytest.approx(stats.sem(values, axis=0), abs=1e-15)


@pytest.mark.parametrize("n", [0, 1, 4])
def test_too_few_threads(n: int) -> None:
    """No interval but a reason; no standard error for fewer than two."""
    assert mean_intervals(np.zeros((n, 2))) is None
    assert why_no_interval(n) == f"{n} thread{'s' * (n != 1)}, an interval needs at least 5"
    assert why_no_interval(SMALLEST_SAMPLE) is None
    assert (standard_error(np.zeros((n, 2))) is None) == (n < 2)


def test_seed() -> None:
    """The same seed gives the same digits, another seed others that are near; global random state plays no part."""
    values = skewed(BOOTSTRAP_SAMPLE)
    np.random.seed(0)  # noqa: NPY002 - the state that must not matter
    first = mean_intervals(values, seed=3)
    np.random.seed(1)  # noqa: NPY002
    second, other = mean_intervals(values, seed=3), mean_intervals(values, seed=4)
    assert first is not None
    assert second is not None
    assert other is not None
    assert (first.low == second.low).all()
    assert (first.low != other.low).all()
    assert first.low == pytest.approx(other.low, abs=LUCK * values.std() / np.sqrt(BOOTSTRAP_SAMPLE))


@pytest.mark.parametrize("n", [1, 2, 7, 1000, 2001])
def test_quantiles_have_the_digits_of_numpy(n: int) -> None:
    """Also for ties, and for a column with NaN."""
    rng = np.random.default_rng(n)
    values = np.column_stack([rng.random(n), rng.random(n).round(1), np.where(np.arange(n) == n // 2, np.nan, 1.0)])
    shares = [0.0, 0.025, 0.5, 0.975, 1.0, *rng.random(20)]
    np.testing.assert_array_equal(column_quantiles(values, *shares), np.quantile(values, shares, axis=0))


def test_columns_share_their_draws() -> None:
    """A column and its double keep their ratio in every resample, and columns do not depend on their neighbours."""
    values = skewed(30, 2)
    both = np.stack([values[:, 0], 2 * values[:, 0], values[:, 1]], axis=1)
    means = resample(both, resamples=50, seed=0).means
    assert means[:, 1] == pytest.approx(2 * means[:, 0])
    assert means[:, 2] == pytest.approx(resample(values, resamples=50, seed=0).means[:, 1])


@pytest.mark.parametrize("n", [20, BOOTSTRAP_SAMPLE])
def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch, n: int) -> None:
    """Drawing at once or in blocks, the last one smaller, gives the same resamples."""
    values = skewed(n)
    means, unseen = resample(values, resamples=101, seed=0)
    monkeypatch.setattr(intervals, "_DRAWS_AT_ONCE_FEW", 7 * n)
    again = resample(values, resamples=101, seed=0)
    assert again.means == pytest.approx(means, abs=1e-15)
    assert (again.unseen == unseen).all()
    assert means.shape == (101, 3)
    many = np.tile(values, 11)
    assert resample(many, resamples=101, seed=0).means == pytest.approx(np.tile(means, 11), abs=1e-15)


@pytest.mark.parametrize("n", [5, BOOTSTRAP_SAMPLE, LARGE_SAMPLE + 1])
@pytest.mark.parametrize("value", [0.0, 0.1 + 0.2, 1.0])
def test_equal_values_are_no_point(n: int, value: float) -> None:
    """Other threads could score otherwise: the unseen value has the weight 1 - 0.025 ** (1 / n)."""
    found = mean_intervals(np.full((n, 1), value))
    assert found is not None
    unseen = 1 - 0.025 ** (1 / n)
    assert found.low[0] == pytest.approx(value * (1 - unseen))
    assert found.high[0] == pytest.approx(value * (1 - unseen) + unseen)
    assert found.low[0] < found.high[0]


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
    values = skewed(BOOTSTRAP_SAMPLE, 1)
    found = mean_intervals(values, confidence=0.5)
    means = resample(values, resamples=10_000, seed=0).means
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


@pytest.mark.parametrize("n", [7, 449, 450, 999])
def test_weights_that_are_kept_are_those_that_are_drawn(n: int) -> None:
    """For any number of columns and resamples; fewer resamples are the first of more."""
    values = np.random.default_rng(1).random((n, 40))
    many = intervals.resample(values, resamples=3_000, seed=2)
    for _ in range(2):
        few = intervals.resample(values[:, :3], resamples=500, seed=2)
        np.testing.assert_allclose(few.means, many.means[:500, :3], rtol=1e-12)
        assert np.array_equal(few.unseen, many.unseen[:500])
    large = list(intervals._draw(n, 500, 2, 13))
    np.testing.assert_allclose(np.concatenate(large)[:, :n] @ values / (n if n >= 450 else 1), many.means[:500])
