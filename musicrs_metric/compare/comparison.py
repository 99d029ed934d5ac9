"""Comparison of systems on the same threads: every pair, every metric, chance, ranks and common threads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ..chance import DIALOGUE_RULE, VERDICT_RULE
from ..errors import UserError
from ..intervals import RESAMPLES, method_of, why_no_interval
from ..measures import Floats
from ..scoring import Empty
from .assemble import Selection, compare_metric
from .pairs import take_sample
from .results import Comparison, Settings
from .significance import POWER
from .systems import Mask, System, check_systems, common_threads, coverage

HEADLINE = ("recall@20", "ndcg@20", "mrr")


def compare(
    systems: Sequence[System],
    metrics: Sequence[str] = HEADLINE,
    *,
    groups: Mapping[str, Sequence[str]] | None = None,
    empty: Empty = "zero",
    common_only: bool = False,
    alpha: float = 0.05,
    power: float = POWER,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Comparison:
    """Compare two or more systems, paired by thread.

    Two systems differ significantly if the paired t test has p <= alpha after Holm's correction over all pairs of the
    metric. The sign-flip test is reported as well. It assumes less, but its p value is at least 1 / (resamples + 1),
    which a correction over many pairs would lift above alpha.

    Args:
        systems: Named tables over the same n threads.
        metrics: Measures that every table holds.
        groups: Grouping name to n labels; each pair then gets its effect per group.
        empty: Whether a thread with an empty ground truth counts as "zero" or is "skip"ped.
        common_only: Compare only on the threads that every system answered.
        alpha: Level of the tests. Intervals cover 1 - alpha.
        power: Power of the detectable differences.
        resamples: Number of resamples of the threads, and of sign flips.
        seed: Seed of both. The same seed gives the same digits.

    Returns:
        The comparison.

    Raises:
        ValueError: Systems that cannot be paired, an unknown metric, or a setting out of range.
        UserError: No thread is left, alpha or power is no share, or scipy is not installed.
    """
    check_systems(systems)
    _check_settings(systems, metrics, empty, alpha, power, resamples)
    is_empty, common = systems[0].table.hits.n_relevant == 0, common_threads(systems)
    counted = ~is_empty if empty == "skip" else np.ones(len(is_empty), dtype=bool)
    counted = counted & common if common_only else counted
    if not counted.any():
        raise UserError("found no thread to compare on; compare on all threads, not on the common or filled ones alone")
    n = int(counted.sum())
    settings = Settings(
        alpha, power, resamples, seed, empty, common_only, method_of(n, large=False), why_no_interval(n),
        verdict_rule=VERDICT_RULE if systems[0].table.null is None else DIALOGUE_RULE,
    )  # fmt: skip
    values = _columns(systems, metrics)
    whole = take_sample(values[counted], resamples=resamples, seed=seed)
    parts = {
        where: take_sample(values[chosen], resamples=resamples, seed=seed)
        for where, chosen in _group_masks(groups or {}, counted)
    }
    selection = Selection(whole, parts, counted)
    return Comparison(
        n=n,
        n_empty=int(is_empty.sum()),
        n_common=int((common & counted).sum()),
        coverage=tuple(coverage(system, counted) for system in systems),
        metrics={
            metric: compare_metric(metric, systems, selection.column(j), settings) for j, metric in enumerate(metrics)
        },
        settings=settings,
    )


def _check_settings(
    systems: Sequence[System], metrics: Sequence[str], empty: str, alpha: float, power: float, resamples: int
) -> None:
    for system in systems:
        for metric in metrics:
            if metric not in system.table.values:
                raise ValueError(f"{system.name!r} has no metric {metric!r}; it has {', '.join(system.table.values)}")
    if empty not in ("zero", "skip"):
        raise ValueError(f'empty must be "zero" or "skip", found {empty!r}')
    for name, share in {"alpha": alpha, "power": power}.items():
        if not 0 < share < 1:
            raise UserError(f"{name} must be between 0 and 1, found {share}")
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1, found {resamples}")


def _columns(systems: Sequence[System], metrics: Sequence[str]) -> Floats:
    """Return shape (threads, metrics, columns): one column per system, then chance if pools are known."""
    tables = [system.table.values for system in systems]
    if systems[0].table.chance is not None:
        tables.append(systems[0].table.chance)
    return np.stack([np.stack([table[metric] for table in tables], axis=1) for metric in metrics], axis=1)


def _group_masks(groups: Mapping[str, Sequence[str]], counted: Mask) -> Iterator[tuple[tuple[str, str], Mask]]:
    for grouping, labels in groups.items():
        if len(labels) != len(counted):
            raise ValueError(
                f"grouping {grouping!r} has {len(labels)} labels, expected one per thread ({len(counted)})"
            )
        label_of = np.asarray(labels, dtype=object)
        for group in sorted(set(label_of[counted].tolist())):
            yield (grouping, group), counted & (label_of == group)
