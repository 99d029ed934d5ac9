"""Mean scores over turns and over dialogues. Intervals draw dialogues, because the turns of one share their goal.

- micro: mean over all turns.
- macro: mean over dialogues of the mean over their turns.

A turn without a prediction counts 0 in both. So does a turn whose ground truth is empty once the known items are
removed, unless `empty` is "skip".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from ..closed_forms import Floats
from ..intervals import (
    CONFIDENCE,
    LARGE_SAMPLE,
    RESAMPLES,
    column_quantiles,
    mean_intervals,
    resample,
    why_no_interval,
)
from ..scoring import Empty, ThreadTable

Bounds = tuple[float, float]
Means = dict[str, float | None]


@dataclass(frozen=True)
class Average:
    """One kind of mean, micro or macro: measure name to value.

    Attributes:
        values: Means in [0, 1]; None if nothing is left to average.
        chance: Exact means of random orders; None if the pools are unknown.
        ceiling: Means of perfect orders.
        interval: Intervals over dialogues; None for the reason in `DialogueScores.interval_reason`.
    """

    values: Means
    chance: Means | None
    ceiling: Means
    interval: dict[str, Bounds] | None


@dataclass(frozen=True)
class DialogueScores:
    """Scores of a corpus of dialogues.

    Attributes:
        macro: Means over dialogues.
        micro: Means over turns.
        n_dialogues: Dialogues averaged.
        n_turns: Turns averaged.
        n_empty: Turns with an empty ground truth after the removal of known items.
        n_missing: Turns without a prediction, averaged as 0.
        n_missing_dialogues: Dialogues without any prediction.
        n_unknown: Ranked entries that name no item; each kept its rank as a miss.
        n_duplicate: Ranked entries that repeat an item or its cluster.
        n_unreachable: Relevant items that cannot be ranked.
        settings: `empty`, `k`, `confidence`, `resamples` and `seed`.
        interval_reason: Reason why there is no interval; None if there is one.
        by: Column to label to the scores of its turns, such as `by["turn"]["0"]`.
    """

    macro: Average
    micro: Average
    n_dialogues: int
    n_turns: int
    n_empty: int
    n_missing: int
    n_missing_dialogues: int
    n_unknown: int
    n_duplicate: int
    n_unreachable: int
    settings: dict[str, Any]
    interval_reason: str | None = None
    by: dict[str, dict[str, DialogueScores]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types: both means with chance, ceiling and interval, counts, settings and `by_<column>`."""
        kinds = {"macro": self.macro, "micro": self.micro}
        data: dict[str, Any] = {name: average.values for name, average in kinds.items()}
        for part in ("chance", "ceiling", "interval"):
            data[part] = {name: getattr(average, part) for name, average in kinds.items()}
        counts = ("n_dialogues", "n_turns", "n_empty", "n_missing", "n_missing_dialogues", "n_unknown")
        data |= {name: getattr(self, name) for name in (*counts, "n_duplicate", "n_unreachable", "interval_reason")}
        groups = {
            f"by_{column}": {
                label: {key: value for key, value in scores.to_dict().items() if key not in self.settings}
                for label, scores in labels.items()
            }
            for column, labels in self.by.items()
        }
        return data | self.settings | groups


def dialogue_scores(
    table: ThreadTable,
    dialogues: Sequence[str],
    *,
    groups: Mapping[str, Sequence[str]] | None = None,
    empty: Empty = "zero",
    confidence: float | None = CONFIDENCE,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> DialogueScores:
    """Average a table of turns, over all turns and within each group.

    Args:
        table: Values of n turns.
        dialogues: The dialogue of each turn.
        groups: Column to n labels.
        empty: Whether a turn with an empty ground truth counts as "zero" or is "skip"ped.
        confidence: Coverage of the intervals; None for none.
        resamples: Resamples of the dialogues.
        seed: Seed of the resamples.

    Raises:
        ValueError: A setting that `mean_intervals` refuses.
    """
    selection = _Selection(table, dialogues, empty, confidence, resamples, seed)
    by: dict[str, dict[str, DialogueScores]] = {}
    for column, labels in (groups or {}).items():
        label_of = np.asarray(labels, dtype=object)
        by[column] = {label: selection.scores(label_of == label, {}) for label in sorted(set(labels), key=natural_key)}
    return selection.scores(np.ones(len(table.hits), dtype=bool), by)


def per_dialogue(columns: Floats, dialogues: Sequence[str]) -> tuple[Floats, Floats]:
    """Sum the rows of each dialogue.

    Args:
        columns: Shape (n, m): one row per turn.
        dialogues: The dialogue of each turn.

    Returns:
        The sums, shape (d, m), dialogues in order of their first turn; and the numbers of turns, shape (d,).
    """
    numbers: dict[str, int] = {}
    owner = np.array([numbers.setdefault(dialogue, len(numbers)) for dialogue in dialogues], dtype=np.int64)
    sums = np.zeros((len(numbers), columns.shape[1]))
    np.add.at(sums, owner, columns)
    return sums, np.bincount(owner, minlength=len(numbers)).astype(np.float64)


class _Selection:
    """A table as matrices, so that every group of turns is averaged in the same way."""

    def __init__(
        self,
        table: ThreadTable,
        dialogues: Sequence[str],
        empty: Empty,
        confidence: float | None,
        resamples: int,
        seed: int,
    ) -> None:
        self.hits, self.names, self.empty = table.hits, list(table.values), empty
        self.dialogues = np.asarray(dialogues, dtype=object)
        self.confidence, self.resamples, self.seed = confidence, resamples, seed
        self.settings = {
            "empty": empty, "k": list(table.k), "confidence": confidence, "resamples": resamples, "seed": seed,
        }  # fmt: skip
        self.values, self.ceiling = _matrix(table.values), _matrix(table.ceiling)
        self.chance = None if table.chance is None else _matrix(table.chance)

    def scores(self, chosen: npt.NDArray[np.bool_], by: dict[str, dict[str, DialogueScores]]) -> DialogueScores:
        hits, is_empty = self.hits, self.hits.n_relevant == 0
        counted = chosen & ~is_empty if self.empty == "skip" else chosen
        dialogues = self.dialogues[counted].tolist()
        answered = set(self.dialogues[chosen & ~hits.missing].tolist())
        sums, lengths = per_dialogue(self.values[counted], dialogues)
        reason = "not asked for" if self.confidence is None else why_no_dialogues(len(lengths))
        macro = micro = None
        if self.confidence is not None and reason is None:
            macro = self._intervals(sums / lengths[:, None], np.ones(len(lengths)))
            micro = self._intervals(sums, lengths)
        return DialogueScores(
            macro=self._average(counted, dialogues, macro, over_dialogues=True),
            micro=self._average(counted, dialogues, micro, over_dialogues=False),
            n_dialogues=len(lengths),
            n_turns=int(counted.sum()),
            n_empty=int((chosen & is_empty).sum()),
            n_missing=int(hits.missing[chosen].sum()),
            n_missing_dialogues=len(set(self.dialogues[chosen].tolist()) - answered),
            n_unknown=int(hits.n_unknown[chosen].sum()),
            n_duplicate=int(hits.n_duplicate[chosen].sum()),
            n_unreachable=int((hits.n_relevant - hits.n_reachable)[chosen].sum()),
            settings=self.settings,
            interval_reason=reason,
            by=by,
        )

    def _average(
        self,
        counted: npt.NDArray[np.bool_],
        dialogues: Sequence[str],
        interval: dict[str, Bounds] | None,
        *,
        over_dialogues: bool,
    ) -> Average:
        def mean(columns: Floats | None) -> Means:
            if columns is None or not counted.any():
                return dict.fromkeys(self.names)
            rows = columns[counted]
            if over_dialogues:
                sums, lengths = per_dialogue(rows, dialogues)
                rows = sums / lengths[:, None]
            return dict(zip(self.names, rows.mean(axis=0).tolist(), strict=True))

        chance = None if self.chance is None else mean(self.chance)
        return Average(mean(self.values), chance, mean(self.ceiling), interval)

    def _intervals(self, sums: Floats, lengths: Floats) -> dict[str, Bounds]:
        low, high = ratio_intervals(
            sums, lengths, confidence=self.confidence or CONFIDENCE, resamples=self.resamples, seed=self.seed
        )
        return dict(zip(self.names, zip(low.tolist(), high.tolist(), strict=True), strict=True))


def ratio_intervals(
    sums: Floats, lengths: Floats, *, confidence: float, resamples: int, seed: int
) -> tuple[Floats, Floats]:
    """Return the intervals of sum / length over dialogues drawn at random; with equal lengths, of the mean of the sums.

    Below 450 dialogues each resample gives random weights to the dialogues and to an unseen one of mean length, whose
    turns all score 0 for the lower end and 1 for the upper end (`musicrs_metric.intervals`, Gaffke's bounds).

    Args:
        sums: Shape (d, m): summed values of each dialogue, each value in [0, 1].
        lengths: Shape (d,): turns of each dialogue.
        confidence: Coverage.
        resamples: Resamples.
        seed: Seed.

    Returns:
        Lower and upper ends, each of shape (m,).
    """
    means = sums / lengths[:, None]
    equal_weights = mean_intervals(means, confidence=confidence, resamples=resamples, seed=seed)
    if equal_weights is None:
        raise ValueError(f"found {len(lengths)} dialogues, expected enough for an interval")
    low, high = equal_weights.low, equal_weights.high
    if np.ptp(lengths) == 0:
        return low, high
    if len(lengths) > LARGE_SAMPLE:
        ratio = sums.sum(axis=0) / lengths.sum()
        error = (sums - lengths[:, None] * ratio).std(axis=0, ddof=1) / (lengths.mean() * np.sqrt(len(lengths)))
        reach = NormalDist().inv_cdf((1 + confidence) / 2) * error
        ends = np.maximum(ratio - reach, 0.0), np.minimum(ratio + reach, 1.0)
    else:
        drawn = resample(np.column_stack([sums, lengths]), resamples=resamples, seed=seed)
        unseen = (drawn.unseen * lengths.mean())[:, None]
        total = drawn.means[:, [-1]] + unseen
        tail = (1 - confidence) / 2
        lowest, highest = drawn.means[:, :-1] / total, (drawn.means[:, :-1] + unseen) / total
        ends = column_quantiles(lowest, tail)[0], column_quantiles(highest, 1 - tail)[0]
    # Dialogues that are all alike keep the bounds for equal values, which have a width.
    alike = np.ptp(means, axis=0) <= 1e-12
    return np.where(alike, low, ends[0]), np.where(alike, high, ends[1])


def natural_key(label: str) -> list[tuple[int, int, str]]:
    """Return a sort key that puts turn 2 before turn 10."""
    parts = re.split(r"([0-9]+)", label)
    return [(1, 0, part) if i % 2 == 0 else (0, int(part), "") for i, part in enumerate(parts)]


def why_no_dialogues(n: int) -> str | None:
    """Return the reason why n dialogues have no interval; None if they have one."""
    reason = why_no_interval(n)
    return None if reason is None else reason.replace("thread", "dialogue")


def _matrix(columns: Mapping[str, Floats]) -> Floats:
    return np.stack(list(columns.values()), axis=1)
