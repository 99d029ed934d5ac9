"""Results of a comparison, as Python objects and as JSON. The attributes are the JSON keys."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from ..chance import DIALOGUE_RULE, VERDICT_RULE, Verdict
from ..runs.run_card import Reads
from ..scoring import Empty

Bounds = tuple[float, float]


@dataclass(frozen=True)
class AgainstChance:
    """A system against random rankings of the same pools, on the threads for which it has a prediction.

    Attributes:
        difference: Mean of value minus chance.
        interval: Its interval; None if the threads are too few.
        t: The difference in standard errors, for description; None if it does not vary.
        p: Two-sided p value, from the exact null distribution of random orders of the pools.
        p_holm: The same after Holm's correction over the systems of the comparison. No verdict depends on it.
        verdict: Verdict by `musicrs_metric.chance.VERDICT_RULE`. It does not depend on the other systems.
        n: Threads that have a prediction.
    """

    difference: float
    interval: Bounds | None
    t: float | None
    p: float
    p_holm: float
    verdict: Verdict
    n: int


@dataclass(frozen=True)
class Standing:
    """One system on one metric. Rank and group are those among the systems with the same `reads`.

    Attributes:
        system: Its name.
        reads: Data that it uses beyond its own thread; None without a run card.
        mean: Mean over all threads.
        interval: Its interval; None if the threads are too few.
        common_mean: Mean over the threads that every system answered; None without such threads.
        chance: The system against chance; None if pools are unknown, or no thread has a prediction.
        rank: 1 = best; equal means share the better rank.
        rank_interval: Bootstrap interval of the rank; None if the threads are too few.
        group: 1 = statistically tied with the best (`rank_groups` and `groups_with_best` of
            `musicrs_metric.compare.ranks`).
    """

    system: str
    reads: Reads | None
    mean: float
    interval: Bounds | None
    common_mean: float | None
    chance: AgainstChance | None
    rank: int
    rank_interval: tuple[int, int] | None
    group: int


@dataclass(frozen=True)
class Effect:
    """A paired difference within one group of threads, for description, without a test or a correction.

    Attributes:
        n: Threads of the group.
        difference: Mean of "a minus b".
        interval: Interval from the threads of the group; None if they are too few.
        small: Whether the group has fewer than `SMALL_GROUP` threads.
        interval_method: Method of the interval; None without one.
        interval_reason: Reason why there is no interval; None if there is one.
    """

    n: int
    difference: float
    interval: Bounds | None
    small: bool
    interval_method: str | None
    interval_reason: str | None


@dataclass(frozen=True)
class Pair:
    """System `a` minus system `b` on one metric, over the same threads.

    Attributes:
        a: Name of the first system.
        b: Name of the second.
        difference: Mean of the per-thread differences.
        interval: Paired interval; None if the threads are too few.
        t: Paired t; None if the differences do not vary.
        p_t: Its two-sided p value; if t is None, the sign-flip p value.
        p_t_holm: The same after Holm's correction over all pairs of the metric.
        p_flip: Two-sided sign-flip p value, never 0.
        p_flip_holm: The same after Holm's correction.
        significant: Whether `p_t_holm` is at most alpha. Rank groups follow from this.
        wins: Threads on which `a` is better.
        ties: Threads on which both are equal.
        losses: Threads on which `b` is better.
        detectable: Difference that a test of these two systems finds with the power of the settings; None for n < 2.
        by: Grouping name to group to the effect in it.
    """

    a: str
    b: str
    difference: float
    interval: Bounds | None
    t: float | None
    p_t: float
    p_t_holm: float
    p_flip: float
    p_flip_holm: float
    significant: bool
    wins: int
    ties: int
    losses: int
    detectable: float | None
    by: dict[str, dict[str, Effect]] = field(default_factory=dict)


@dataclass(frozen=True)
class MetricComparison:
    """All systems on one metric.

    Attributes:
        chance: Mean over the threads of the exact expectation of a random ranking; None without pools.
        standings: One per system, in the order given.
        pairs: Every pair, (1st, 2nd), (1st, 3rd), ...
        detectable: The difference that a typical pair (of median standard deviation) must have to be found with the
            power of the settings by a test of its own; None for n < 2.
        detectable_in_family: The same for the smallest level that Holm's correction may ask for, alpha / pairs.
    """

    chance: float | None
    standings: tuple[Standing, ...]
    pairs: tuple[Pair, ...]
    detectable: float | None
    detectable_in_family: float | None


@dataclass(frozen=True)
class Coverage:
    """Number of threads that a system answered.

    Attributes:
        system: Its name.
        n: Threads compared.
        n_missing: Those without a prediction; they score 0.
        n_no_audio: Those for which the run had no audio. They count with their predictions.
        filled: Share of the pools in the filled part; None if the predictions do not state it.
    """

    system: str
    n: int
    n_missing: int
    n_no_audio: int
    filled: float | None = None


@dataclass(frozen=True)
class Settings:
    """Settings that decide the digits.

    Attributes:
        alpha: Level of the tests. Intervals cover 1 - alpha.
        power: Power of the detectable differences.
        resamples: Number of resamples of the threads, and of sign flips.
        seed: Seed of both.
        empty: Whether threads with an empty ground truth count as "zero" or are "skip"ped.
        common_only: Whether only the threads count that every system answered.
        interval_method: Method of the intervals (`musicrs_metric.intervals`); None without intervals.
        interval_reason: Reason why there are no intervals; None if there are.
        decided_by: The test that makes a difference significant.
        verdict_rule: The rule of the verdicts against chance.
    """

    alpha: float
    power: float
    resamples: int
    seed: int
    empty: Empty
    common_only: bool
    interval_method: str | None
    interval_reason: str | None
    decided_by: str = "paired t, Holm over all pairs of a metric"
    verdict_rule: str = VERDICT_RULE

    @property
    def unit(self) -> str:
        """Return what `n` counts: "thread", or "dialogue" if the threads are turns."""
        return "dialogue" if self.verdict_rule == DIALOGUE_RULE else "thread"

    @property
    def confidence(self) -> float:
        """Return the coverage of the intervals."""
        return 1 - self.alpha


@dataclass(frozen=True)
class Comparison:
    """Two or more systems on the same threads.

    Attributes:
        n: Threads compared.
        n_empty: Threads with an empty ground truth. `settings.empty` decides whether n includes them.
        n_common: Threads of n that every system answered, with audio.
        coverage: One per system.
        metrics: Metric name to its comparison.
        settings: The settings.
    """

    n: int
    n_empty: int
    n_common: int
    coverage: tuple[Coverage, ...]
    metrics: dict[str, MetricComparison]
    settings: Settings

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types, with the attribute names as keys and None for what is undefined."""
        return asdict(self)
