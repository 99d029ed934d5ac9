"""The statistics of a comparison on plain arrays, against hand calculation and scipy."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import stats

from musicrs_metric.compare.pairs import all_pairs, compare_pairs, take_sample
from musicrs_metric.compare.ranks import rank_bounds, rank_groups, ranks
from musicrs_metric.compare.significance import detectable_difference, flipped_sums, holm, sign_flip_p, t_test
from musicrs_metric.intervals import BOOTSTRAP_SAMPLE


def test_holm_by_hand() -> None:
    """Ordered .005, .02, .03, .04 times 4, 3, 2, 1 is .02, .06, .06, .04; the last is lifted to the one before it."""
    assert holm(np.array([0.03, 0.005, 0.04, 0.02])).tolist() == pytest.approx([0.06, 0.02, 0.06, 0.06])


def test_holm_never_exceeds_one() -> None:
    """.6 * 2 is cut to 1, and a larger p cannot come out smaller."""
    assert holm(np.array([0.6, 0.9])).tolist() == [1.0, 1.0]


def test_holm_of_one_test_changes_nothing() -> None:
    """A family of one needs no correction."""
    assert holm(np.array([0.03])).tolist() == [0.03]


def test_t_test_agrees_with_scipy() -> None:
    """Same t, same p as scipy's one-sample t test in each column."""
    values = np.random.default_rng(1).normal(0.1, 1, size=(40, 3))
    expected = stats.ttest_1samp(values, 0)
    found = t_test(values)
    np.testing.assert_allclose(found.t, expected.statistic, rtol=1e-12)
    np.testing.assert_allclose(found.p, expected.pvalue, rtol=1e-9)


def test_t_is_undefined_without_variation() -> None:
    """A constant column, or one thread, has no t; nothing is divided by 0."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        constant, single = t_test(np.full((5, 1), 0.2)), t_test(np.ones((1, 1)))
    assert np.isnan([constant.t[0], constant.p[0], single.sd[0], single.t[0]]).all()


def test_sign_flip_p_agrees_with_the_exact_test() -> None:
    """Many random flips come close to all 2^8 of them."""
    values = np.array([0.5, 0.25, -0.1, 0.3, 0.2, -0.05, 0.4, 0.1])
    exact = stats.permutation_test((values,), np.mean, permutation_type="samples", n_resamples=np.inf).pvalue
    flipped = flipped_sums(values[:, None], flips=40_000, seed=0)
    assert sign_flip_p(flipped, values.sum(keepdims=True))[0] == pytest.approx(exact, abs=0.005)


def test_sign_flip_p_is_never_zero() -> None:
    """Where no flip reaches the observed sum, p is 1 / (flips + 1)."""
    flipped = flipped_sums(np.ones((200, 1)), flips=99, seed=0)
    assert sign_flip_p(flipped, np.array([200.0])).tolist() == [1 / 100]


def test_a_flip_that_equals_the_observed_sum_counts() -> None:
    """Three of four sums are as far out as the observed one: (3 + 1) / (4 + 1)."""
    assert sign_flip_p(np.array([[0.3], [-0.3], [0.1], [0.1 + 0.2]]), np.array([0.3])).tolist() == [0.8]


def test_pair_interval_agrees_with_scipy_bootstrap() -> None:
    """The paired percentile interval is that of scipy's bootstrap of the differences, to the noise of resampling."""
    values = np.random.default_rng(2).random((BOOTSTRAP_SAMPLE, 2))
    found = compare_pairs(*all_pairs(2), take_sample(values, resamples=20_000, seed=5))
    expected = stats.bootstrap(
        (values[:, 0] - values[:, 1],), np.mean, method="percentile", n_resamples=20_000, rng=np.random.default_rng(6)
    ).confidence_interval
    assert found.low[0] == pytest.approx(expected.low, abs=0.003)
    assert found.high[0] == pytest.approx(expected.high, abs=0.003)


def test_pairs_agree_with_scipy_ttest_rel() -> None:
    """Every pair has the t and p of scipy's paired t test."""
    values = np.random.default_rng(3).random((30, 4))
    a, b = all_pairs(4)
    found = compare_pairs(a, b, take_sample(values, resamples=50, seed=0))
    expected = stats.ttest_rel(values[:, a], values[:, b])
    np.testing.assert_allclose(found.t, expected.statistic, rtol=1e-9)
    np.testing.assert_allclose(found.p_t, expected.pvalue, rtol=1e-9)


def test_all_pairs_in_order() -> None:
    """First with second, first with third, second with third."""
    a, b = all_pairs(3)
    assert list(zip(a.tolist(), b.tolist(), strict=True)) == [(0, 1), (0, 2), (1, 2)]


def test_constant_difference_is_tested_by_sign_flips() -> None:
    """Eight threads, each better by .5: only all plus or all minus reach that, 2 of 256 assignments."""
    values = np.stack([np.full(8, 0.75), np.full(8, 0.25)], axis=1)
    found = compare_pairs(*all_pairs(2), take_sample(values, resamples=40_000, seed=0))
    assert found.p_t[0] == found.p_flip[0] == pytest.approx(2 / 256, abs=0.002)


def test_equal_means_share_the_better_rank() -> None:
    """Of .3, .5, .5, .1 two are first, the next is third."""
    assert ranks(np.array([0.3, 0.5, 0.5, 0.1])).tolist() == [3, 1, 1, 4]


def test_rank_bounds_follow_the_resamples() -> None:
    """A system that leads in 90 of 100 resamples may be first or second; the last is always third."""
    drawn = np.array([[0.5, 0.4, 0.1]] * 90 + [[0.4, 0.5, 0.1]] * 10)
    low, high = rank_bounds(drawn, 0.95)
    assert (low.tolist(), high.tolist()) == ([1, 1, 3], [2, 2, 3])
    assert rank_bounds(drawn, 0.5)[1].tolist() == [1, 2, 3]


def test_rank_groups_follow_from_the_tests() -> None:
    """B is tied with the best A; C differs from A and leads group 2; D is tied with C although also with B."""
    different = np.zeros((4, 4), dtype=bool)
    for i, j in [(0, 2), (0, 3), (1, 2)]:
        different[i, j] = different[j, i] = True
    assert rank_groups(np.array([0.4, 0.38, 0.3, 0.29]), different).tolist() == [1, 1, 2, 2]


def test_a_noisy_system_may_be_tied_where_a_better_one_is_not() -> None:
    """The second differs from the best, the third does not: the third is in group 1."""
    different = np.zeros((3, 3), dtype=bool)
    different[0, 1] = different[1, 0] = True
    assert rank_groups(np.array([0.4, 0.35, 0.3]), different).tolist() == [1, 2, 1]


@pytest.mark.parametrize("n", [10, 50, 477])
def test_detectable_difference_has_its_power(n: int) -> None:
    """Under the non-central t distribution a test finds the difference four times in five."""
    shift = detectable_difference(0.23, n)
    assert shift is not None
    power = stats.nct.sf(stats.t.ppf(0.975, n - 1), n - 1, shift / 0.23 * np.sqrt(n))
    assert power == pytest.approx(0.8, abs=0.002)


def test_detectable_difference_halves_with_four_times_the_threads() -> None:
    """It goes with one over the square root of n."""
    small, large = detectable_difference(0.2, 2000), detectable_difference(0.2, 500)
    assert small is not None
    assert large == pytest.approx(2 * small, rel=2e-3)


def test_one_thread_detects_nothing() -> None:
    """Without a spread there is no answer, rather than NaN."""
    assert detectable_difference(float("nan"), 1) is None
