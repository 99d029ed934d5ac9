"""Scores of a set of rankings, each with its chance level, its ceiling and its interval."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isclose
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from .chance import DIALOGUE_RULE, VERDICT_RULE, ChanceTest, Verdict, ceiling, chance, pools_of, verdict
from .hits import Hits, hits_from_strings
from .intervals import CONFIDENCE, RESAMPLES, mean_intervals, standard_error, why_no_interval
from .measures import DEFAULT_K, Floats, check_cutoffs, measure, measure_names
from .random_orders import Pools

Empty = Literal["zero", "skip"]


@dataclass(frozen=True)
class Answered:
    """Means over the threads that have a prediction. The verdict against chance uses these.

    Attributes:
        n: Number of these threads.
        values: Measure name to mean; None if there is no such thread.
        chance: Exact expectation of a random ranking of the same threads, same keys.
        pools: The kinds of pools of these threads.
        verdicts: Measure to verdict, of rows with a null distribution of their own; None for the rule of the pools.
    """

    n: int
    values: dict[str, float | None]
    chance: dict[str, float | None]
    pools: Pools
    verdicts: dict[str, Verdict | None] | None = None


@dataclass(frozen=True)
class Scores:
    """Means over threads, with chance, ceiling, standard error, interval and counts.

    Attributes:
        values: Measure name to mean in [0, 1]; None if no thread is left to average.
        n: Threads averaged.
        n_empty: Threads with an empty ground truth: averaged as 0 (`empty="zero"`) or excluded (`empty="skip"`).
        n_missing: Threads without a prediction, averaged as 0.
        n_unknown: Ranked strings that name no candidate; each kept its rank as a miss.
        n_duplicate: Ranked strings that repeat a candidate; later ranks closed up.
        n_unreachable: Relevant items that the pool of their thread lacks.
        chance: Exact expectation of a random ranking, same keys; None without pools.
        ceiling: Best possible mean, same keys.
        se: Standard error of each mean; None for n < 2.
        interval: Measure name to (low, high); None for the reason in `interval_reason`.
        settings: `empty`, `k`, `confidence`; with intervals also `resamples`, `seed`, `interval_method`.
        interval_reason: Reason why there is no interval; None if there is one.
        answered: The threads with a prediction; None without pools.
        by: Grouping name to group to its own scores, e.g. `by["genre"]["Jazz"]`.
    """

    values: dict[str, float | None]
    n: int
    n_empty: int
    n_missing: int
    n_unknown: int
    n_duplicate: int
    n_unreachable: int
    chance: dict[str, float | None] | None
    ceiling: dict[str, float | None]
    se: dict[str, float] | None
    interval: dict[str, tuple[float, float]] | None
    settings: dict[str, Any]
    interval_reason: str | None = None
    answered: Answered | None = None
    by: dict[str, dict[str, Scores]] = field(default_factory=dict)

    @property
    def interval_method(self) -> str | None:
        """Return the method of the intervals (`musicrs_metric.intervals`); None without intervals."""
        method: str | None = self.settings.get("interval_method")
        return method

    @property
    def unit(self) -> str:
        """Return what `n` counts: "thread", or "dialogue" if the threads are turns."""
        return "thread" if self.answered is None or self.answered.verdicts is None else "dialogue"

    @property
    def verdict_rule(self) -> str:
        """Return the rule of the verdicts, in words."""
        return VERDICT_RULE if self.unit == "thread" else DIALOGUE_RULE

    def verdict(self, measure: str) -> Verdict | None:
        """Return the verdict of a measure against chance, on the threads that have a prediction.

        Args:
            measure: One of the measures.

        Returns:
            "above", "at" or "below" by `musicrs_metric.chance.VERDICT_RULE`; None without pools or predictions.
        """
        if self.answered is None:
            return None
        if self.answered.verdicts is not None:
            return self.answered.verdicts[measure]
        return verdict(measure, self.answered.values[measure], self.answered.pools)

    def is_constant(self, measure: str) -> bool:
        """Report whether every order of the pools has the same value, as recall@20 on pools of 20 candidates."""
        chance, best = (self.chance or {}).get(measure), self.ceiling[measure]
        return chance is not None and best is not None and isclose(chance, best)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types.

        They hold scores, counts, `chance`, `ceiling`, `se`, `interval` with its method or the reason for its absence,
        `verdict` with its rule and its number of threads, settings, and `by_<grouping>`.
        """
        flat: dict[str, Any] = {**self.values, **self._counts()}
        flat |= {"chance": self.chance, "ceiling": self.ceiling, "se": self.se}
        flat["interval"] = None if self.interval is None else {name: list(pair) for name, pair in self.interval.items()}
        flat["interval_reason"] = self.interval_reason
        flat["verdict"] = None if self.answered is None else {name: self.verdict(name) for name in self.values}
        flat["verdict_n"] = None if self.answered is None else self.answered.n
        flat |= self.settings | {"verdict_rule": self.verdict_rule}
        for grouping, groups in self.by.items():
            flat[f"by_{grouping}"] = {group: scores._group_dict() for group, scores in groups.items()}
        return flat

    def to_flat_dict(self) -> dict[str, float]:
        """Return one level of numbers, for loggers and the Trainer of transformers.

        The keys are the measures and the counts. `recall@20_chance`, `recall@20_se`, `recall@20_low` and
        `recall@20_high` belong to `recall@20`. The values of a group are in `group/<label>/<key>`. An undefined value
        has no key.
        """
        numbers: dict[str, float | None] = {**self.values, **self._counts()}
        for name in self.values:
            low, high = (None, None) if self.interval is None else self.interval[name]
            numbers[f"{name}_chance"] = None if self.chance is None else self.chance[name]
            numbers[f"{name}_se"] = None if self.se is None else self.se[name]
            numbers |= {f"{name}_low": low, f"{name}_high": high}
        for grouping, groups in self.by.items():
            for group, scores in groups.items():
                numbers |= {f"{grouping}/{group}/{key}": value for key, value in scores.to_flat_dict().items()}
        return {key: value for key, value in numbers.items() if value is not None}

    def _counts(self) -> dict[str, int]:
        names = ("n", "n_empty", "n_missing", "n_unknown", "n_duplicate", "n_unreachable")
        return {name: getattr(self, name) for name in names}

    def _group_dict(self) -> dict[str, Any]:
        # The settings are those of the whole; repeating them in every group would bury the numbers. The method of the
        # intervals depends on the number of threads.
        shared = {*self.settings, "verdict_rule"} - {"interval_method"}
        return {key: value for key, value in self.to_dict().items() if key not in shared}


class NullRule(Protocol):
    """A null distribution of means of rows that are no single threads, such as dialogues."""

    def test(self, name: str, mean: float | None, chosen: npt.NDArray[np.bool_]) -> ChanceTest | None:
        """Test the mean of a measure over the chosen rows."""


@dataclass(frozen=True)
class ThreadTable:
    """Values of every measure for every thread, before any mean.

    Attributes:
        hits: The judged rankings of n threads.
        k: Cutoffs.
        values: Measure name to shape (n,).
        chance: Chance levels, same keys; None without pools.
        ceiling: Ceilings, same keys.
        null: Null distribution of the rows; None for that of their pools.
    """

    hits: Hits
    k: tuple[int, ...]
    values: dict[str, Floats]
    chance: dict[str, Floats] | None
    ceiling: dict[str, Floats]
    null: NullRule | None = None


def thread_table(hits: Hits, k: int | Iterable[int] = DEFAULT_K) -> ThreadTable:
    """Compute all measures of judged rankings for each thread.

    Args:
        hits: Judged rankings, from `hits_from_strings` or `hits_from_indices`.
        k: Cutoffs.

    Returns:
        The table.

    Raises:
        ValueError: See `check_cutoffs`.
    """
    cutoffs = check_cutoffs(k)
    return ThreadTable(hits, cutoffs, measure(hits, cutoffs), chance(hits, cutoffs), ceiling(hits, cutoffs))


def score(
    rankings: Sequence[Sequence[str] | None],
    references: Sequence[Sequence[str]],
    candidates: Sequence[Sequence[str]] | None = None,
    *,
    groups: Mapping[str, Sequence[str]] | None = None,
    k: int | Iterable[int] = DEFAULT_K,
    empty: Empty = "zero",
    confidence: float | None = CONFIDENCE,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Scores:
    """Score rankings of strings against the ground truth of their threads.

    Args:
        rankings: One list of strings per thread, best first; None without a prediction (scores 0, counted).
        references: The relevant strings per thread, aligned with `rankings`.
        candidates: The pool per thread. Without it chance is undefined and unknown titles are not counted.
        groups: Grouping name to one label per thread, e.g. `{"genre": ["Jazz", ...]}`.
        k: Cutoffs.
        empty: Whether a thread with an empty ground truth counts as "zero" (the paper's convention) or is "skip"ped.
        confidence: Coverage of the intervals, or None for no intervals.
        resamples: Bootstrap resamples.
        seed: Seed of the bootstrap.

    Returns:
        The scores, overall and per group.

    Raises:
        ValueError: No threads, lengths that differ, a cutoff that `check_cutoffs` refuses, an unknown `empty`, or a
            setting that `mean_intervals` refuses.

    Examples:
        >>> result = score([["B", "A"]], [["A"]], [["A", "B", "C", "D"]], k=1)
        >>> result.values["mrr"], result.chance["recall@1"]
        (0.5, 0.25)
    """
    hits = hits_from_strings(rankings, references, candidates)
    return summarise(
        thread_table(hits, k),
        groups=groups, empty=empty, confidence=confidence, resamples=resamples, seed=seed,
    )  # fmt: skip


def summarise(
    table: ThreadTable,
    *,
    groups: Mapping[str, Sequence[str]] | None = None,
    empty: Empty = "zero",
    confidence: float | None = CONFIDENCE,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Scores:
    """Average a table of per-thread values, over all threads and within each group.

    Args:
        table: Per-thread values of n threads.
        groups: Grouping name to n labels.
        empty: See `score`.
        confidence: See `score`.
        resamples: See `score`.
        seed: See `score`; intervals of a group resample within the group.

    Returns:
        The scores.

    Raises:
        ValueError: See `score`.
    """
    n = len(table.hits)
    if n == 0:
        raise ValueError("no threads to score: found 0 rankings, expected at least 1")
    if empty not in ("zero", "skip"):
        raise ValueError(f'empty must be "zero" or "skip", found {empty!r}')
    names = measure_names(table.k)
    columns = _Columns(table, names, empty, confidence, resamples, seed)
    by: dict[str, dict[str, Scores]] = {}
    for grouping, labels in (groups or {}).items():
        if len(labels) != n:
            raise ValueError(f"grouping {grouping!r} has {len(labels)} labels, expected one per thread ({n})")
        label_of = np.asarray(labels, dtype=object)
        by[grouping] = {group: columns.mean(label_of == group) for group in sorted(set(labels))}
    return columns.mean(np.ones(n, dtype=bool), by)


class _Columns:
    """A thread table as matrices, so that every selection of threads is averaged in the same way."""

    def __init__(
        self, table: ThreadTable, names: list[str], empty: Empty, confidence: float | None, resamples: int, seed: int
    ) -> None:
        self.hits, self.names, self.empty, self.null = table.hits, names, empty, table.null
        self.confidence, self.resamples, self.seed = confidence, resamples, seed
        self.settings = {"empty": empty, "k": list(table.k), "confidence": confidence}
        self.values = np.stack([table.values[name] for name in names], axis=1)
        self.ceiling = np.stack([table.ceiling[name] for name in names], axis=1)
        self.chance = None if table.chance is None else np.stack([table.chance[name] for name in names], axis=1)

    def mean(self, chosen: npt.NDArray[np.bool_], by: dict[str, dict[str, Scores]] | None = None) -> Scores:
        hits, is_empty = self.hits, self.hits.n_relevant == 0
        counted = chosen & ~is_empty if self.empty == "skip" else chosen
        values = self.values[counted]
        error = standard_error(values)
        interval = method = None
        reason = "not asked for" if self.confidence is None else why_no_interval(len(values))
        if self.confidence is not None:
            intervals = mean_intervals(values, confidence=self.confidence, resamples=self.resamples, seed=self.seed)
            if intervals is not None:
                pairs = zip(intervals.low.tolist(), intervals.high.tolist(), strict=True)
                interval, method = dict(zip(self.names, pairs, strict=True)), intervals.method
        drawn = {} if method is None else {"resamples": self.resamples, "seed": self.seed, "interval_method": method}
        return Scores(
            values=self._means(values),
            n=int(counted.sum()),
            n_empty=int((chosen & is_empty).sum()),
            n_missing=int(hits.missing[chosen].sum()),
            n_unknown=int(hits.n_unknown[chosen].sum()),
            n_duplicate=int(hits.n_duplicate[chosen].sum()),
            n_unreachable=int((hits.n_relevant - hits.n_reachable)[chosen].sum()),
            chance=None if self.chance is None else self._means(self.chance[counted]),
            ceiling=self._means(self.ceiling[counted]),
            se=None if error is None else dict(zip(self.names, error.tolist(), strict=True)),
            interval=interval,
            settings=self.settings | drawn,
            interval_reason=reason,
            answered=self._answered(counted & ~hits.missing),
            by=by or {},
        )

    def _answered(self, threads: npt.NDArray[np.bool_]) -> Answered | None:
        pools = pools_of(self.hits, threads)
        if self.chance is None or (pools is None and self.null is None):
            return None
        values, levels = self._means(self.values[threads]), self._means(self.chance[threads])
        verdicts: dict[str, Verdict | None] | None = None
        if self.null is not None:
            tests = [self.null.test(name, value, threads) for name, value in values.items()]
            verdicts = {name: test and test.verdict for name, test in zip(values, tests, strict=True)}
        return Answered(int(threads.sum()), values, levels, pools or (), verdicts)

    def _means(self, values: Floats) -> dict[str, float | None]:
        if not len(values):
            return dict.fromkeys(self.names)
        return dict(zip(self.names, values.mean(axis=0).tolist(), strict=True))
