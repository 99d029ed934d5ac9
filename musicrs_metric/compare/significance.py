"""Tests of mean differences over the same threads: paired t, sign flips, Holm's correction, and power.

scipy is loaded only when two systems are compared.

Sources:
Smucker, Allan and Carterette (2007, doi:10.1145/1321440.1321528) and Urbano, Lima and Hanjalic (2019,
doi:10.1145/3331184.3331259) compare these tests on retrieval runs.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ..errors import UserError
from ..intervals import RESAMPLES
from ..measures import Floats

# Sums, means and spreads of values in [0, 1] that are closer than this differ by rounding only.
ROUNDING = 1e-9
POWER = 0.8
_SIGNS = np.array([-1.0, 1.0])
_SIGNS_AT_ONCE = 4_000_000


class TTest(NamedTuple):
    """One-sample t test of each of p columns against 0; on differences this is the paired t test.

    Attributes:
        sd: Shape (p,): sample standard deviation (ddof = 1); NaN for n < 2.
        t: Shape (p,); NaN if the column does not vary, or n < 2.
        p: Shape (p,): two-sided p value; NaN if `t` is.
    """

    sd: Floats
    t: Floats
    p: Floats


def t_test(values: Floats) -> TTest:
    """Test whether the mean of each column is 0.

    Args:
        values: Shape (n, p): one row per thread.

    Returns:
        The tests.

    Raises:
        UserError: scipy is not installed.
    """
    n, columns = values.shape
    undefined = np.full(columns, np.nan)
    if n < 2:
        return TTest(undefined, undefined, undefined)
    sd = values.std(axis=0, ddof=1)
    t = np.divide(values.mean(axis=0) * np.sqrt(n), sd, out=undefined.copy(), where=sd > ROUNDING)
    return TTest(sd, t, _two_sided_p(t, n - 1))


def flipped_sums(values: Floats, *, flips: int, seed: int) -> Floats:
    """Return column sums after random sign flips of the rows, the same flips for all columns.

    Because the signs are shared, the flipped sum of a difference of two columns is the difference of their flipped
    sums. One table therefore serves all pairs of systems.

    Args:
        values: Shape (n, m): one row per thread.
        flips: Number of random assignments of signs.
        seed: Seed of the generator.

    Returns:
        Shape (flips, m).
    """
    rng = np.random.default_rng(seed)
    n = len(values)
    block = max(1, _SIGNS_AT_ONCE // n)
    sizes = [min(block, flips - done) for done in range(0, flips, block)]
    return np.concatenate([rng.choice(_SIGNS, size=(size, n)) @ values for size in sizes])


def sign_flip_p(flipped: Floats, observed: Floats) -> Floats:
    """Return the two-sided p value of the sign-flip (Fisher's randomisation) test.

    The observed assignment is one of the possible ones, hence the +1: p is never 0 (Phipson and Smyth 2010,
    doi:10.2202/1544-6115.1585).

    Args:
        flipped: Shape (flips, p): sums of the differences under random signs.
        observed: Shape (p,): sums of the differences as they are.

    Returns:
        Shape (p,), from 1 / (flips + 1) to 1.
    """
    as_far = (np.abs(flipped) >= np.abs(observed) - ROUNDING).sum(axis=0)
    p: Floats = (as_far + 1) / (len(flipped) + 1)
    return p


def paired_p(differences: Floats) -> Floats:
    """Return the p value of the paired t test of each column, or of the sign-flip test if t is undefined.

    Args:
        differences: Shape (n, p): one row per thread.

    Returns:
        Shape (p,). 1 for a column of zeros, such as the difference of two copies of one file.
    """
    p = t_test(differences).p
    undefined = np.isnan(p)
    if undefined.any():
        # The difference is the same on every thread: none at all, or a number whose size does not matter to the test.
        is_none = np.abs(differences.mean(axis=0)) <= ROUNDING
        p[undefined] = np.where(is_none[undefined], 1.0, _p_of_constant(len(differences)))
    return p


@cache
def _p_of_constant(n: int) -> float:
    """Return the sign-flip p value of a difference that is the same on n threads and is not 0."""
    ones = np.ones((n, 1))
    return float(sign_flip_p(flipped_sums(ones, flips=RESAMPLES, seed=0), ones.sum(axis=0))[0])


def holm(p: Floats) -> Floats:
    """Adjust p values so that, with probability 1 - alpha, none of a family is below alpha by chance (Holm 1979).

    The smallest of m is multiplied by m, the next by m - 1, and so on; a larger p never gets a smaller adjusted one.

    Args:
        p: Shape (m,): the p values of one family of tests.

    Returns:
        Shape (m,): adjusted p values in [0, 1], in the order given.

    Examples:
        >>> holm(np.array([0.04, 0.01, 0.03])).round(2).tolist()
        [0.06, 0.03, 0.06]
    """
    order = np.argsort(p, kind="stable")
    steps = p[order] * np.arange(len(p), 0, -1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


def detectable_difference(sd: float, n: int, *, alpha: float = 0.05, power: float = POWER) -> float | None:
    """Return the true mean difference that a two-sided paired t test on n threads finds with probability `power`.

    (t[1 - alpha/2, n - 1] + t[power, n - 1]) * sd / sqrt(n). This uses the central t distribution instead of the exact
    non-central one. The two agree within 0.2 % from n = 10 on. Background: Sakai (2016,
    doi:10.1007/s10791-015-9273-z).

    Args:
        sd: Standard deviation of the per-thread differences (ddof = 1).
        n: Threads.
        alpha: Level of the test.
        power: Wanted probability of finding the difference.

    Returns:
        The difference, in the unit of `sd`; None for n < 2.

    Raises:
        UserError: scipy is not installed.
    """
    if n < 2:
        return None
    return (student_quantile(1 - alpha / 2, n - 1) + student_quantile(power, n - 1)) * sd / math.sqrt(n)


def _two_sided_p(t: Floats, df: int) -> Floats:
    """Return the probability of a t value at least as far from 0 as `t`."""
    p: Floats = 2 * np.asarray(_special().stdtr(df, -np.abs(t)))
    return p


def student_quantile(probability: float, df: int) -> float:
    """Return the t value below which `probability` of Student's distribution is.

    Args:
        probability: Between 0 and 1.
        df: Degrees of freedom, at least 1.

    Raises:
        UserError: scipy is not installed.
    """
    return float(_special().stdtrit(df, probability))


def _special() -> Any:
    try:
        from scipy import special
    except ImportError as error:
        raise UserError(
            "comparing systems needs scipy, which was not found; install it with `pip install 'musicrs[report]'`"
        ) from error
    return special
