"""Agreement beyond chance: Cohen's kappa for pairs, Fleiss' kappa for all annotators, with bootstrap intervals.

statsmodels computes the statistics. The bootstrap draws threads, not questions, because the answers of one annotator
about the links of a thread are correlated. Below 20 threads there is no interval: the percentile bootstrap of kappa
then covers as little as 76 % instead of 95 %.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from musicrs_metric.errors import count
from musicrs_metric.measures import Floats

from .votes import QuestionKind, QuestionVotes
from .worklist import CATEGORIES

# Answers of a question. Every URL counts as `corrected`.
LABELS: Mapping[QuestionKind, tuple[str, ...]] = {
    "category": CATEGORIES,
    "link": ("valid", "invalid", "corrected"),
    "entity": ("relevant", "irrelevant"),
}


SMALLEST_SAMPLE = 20
_ROUNDING = 1e-9


class Kappa(NamedTuple):
    """Agreement of two or more annotators on one kind of question.

    Attributes:
        value: 1 for full agreement, 0 for chance. None if all answers are equal, so that chance agreement is full, too.
        low: Lower end of the 95 % percentile bootstrap interval. None with a `reason`.
        high: Upper end.
        agreement: Share of pairs of answers to one question that are equal.
        n_questions: Number of questions.
        n_threads: Number of threads of these questions.
        n_annotators: Number of answers per question.
        reason: Reason of a missing interval. None with an interval.
    """

    value: float | None
    low: float | None
    high: float | None
    agreement: float
    n_questions: int
    n_threads: int
    n_annotators: int
    reason: str | None = None


def label(about: QuestionKind, vote: str) -> str:
    """Return the label of a vote."""
    return vote if vote in LABELS[about] else "corrected"


def cohen(
    all_votes: Sequence[QuestionVotes], about: QuestionKind, pair: tuple[str, str], *, resamples: int, seed: int
) -> Kappa | None:
    """Cohen's kappa of two annotators (Cohen 1960, doi:10.1177/001316446002000104).

    Args:
        all_votes: The votes on all questions.
        about: The kind of question.
        pair: The annotators.
        resamples: Bootstrap resamples.
        seed: Seed of the generator.

    Returns:
        The agreement. None if the two have no question in common.
    """
    from statsmodels.stats.inter_rater import cohens_kappa

    labels = LABELS[about]
    tables: dict[str, Floats] = {}
    for thread_id, votes in _votes(all_votes, about):
        if pair[0] in votes and pair[1] in votes:
            table = tables.setdefault(thread_id, np.zeros((len(labels), len(labels))))
            table[labels.index(votes[pair[0]]), labels.index(votes[pair[1]])] += 1
    if not tables:
        return None
    stacked = np.stack(list(tables.values()))

    def kappa(times_drawn: Floats) -> float:
        return float(cohens_kappa(np.tensordot(times_drawn, stacked, axes=1), return_results=False))

    total = stacked.sum(axis=0)
    agreement = float(np.trace(total) / total.sum())
    estimate = _with_interval(kappa, len(stacked), resamples, seed)
    if estimate.value is not None and 1 in (np.count_nonzero(total.sum(axis=0)), np.count_nonzero(total.sum(axis=1))):
        # Chance agreement then equals the observed one in every resample, for any answers.
        estimate = _Estimate(estimate.value, reason="one annotator gave one label only, so kappa is always 0")
    return Kappa(
        estimate.value, estimate.low, estimate.high, agreement, int(total.sum()), len(stacked), 2, estimate.reason
    )


def fleiss(all_votes: Sequence[QuestionVotes], about: QuestionKind, *, resamples: int, seed: int) -> Kappa | None:
    """Fleiss' kappa of all annotators (Fleiss 1971, doi:10.1037/h0031619).

    Kappa needs the same number of answers per question. It uses the questions with the most frequent number of answers,
    at least two. On ties, the larger number counts.

    Args:
        all_votes: The votes on all questions.
        about: The kind of question.
        resamples: Bootstrap resamples.
        seed: Seed of the generator.

    Returns:
        The agreement. None if no question has two answers.
    """
    from statsmodels.stats.inter_rater import fleiss_kappa

    answered = [(thread_id, list(votes.values())) for thread_id, votes in _votes(all_votes, about) if len(votes) > 1]
    if not answered:
        return None
    sizes = Counter(len(votes) for _, votes in answered)
    size = max(sizes, key=lambda size: (sizes[size], size))
    answered = [(thread_id, votes) for thread_id, votes in answered if len(votes) == size]
    rows = np.array([[votes.count(label) for label in LABELS[about]] for _, votes in answered])
    names, thread = np.unique([thread_id for thread_id, _ in answered], return_inverse=True)

    def kappa(times_drawn: Floats) -> float:
        return float(fleiss_kappa(np.repeat(rows, times_drawn[thread].astype(int), axis=0)))

    estimate = _with_interval(kappa, len(names), resamples, seed)
    equal_pairs = float((rows * (rows - 1)).sum() / (len(rows) * size * (size - 1)))
    return Kappa(estimate.value, estimate.low, estimate.high, equal_pairs, len(rows), len(names), size, estimate.reason)


def _votes(all_votes: Sequence[QuestionVotes], about: QuestionKind) -> list[tuple[str, dict[str, str]]]:
    """Return thread and answers by annotator, for each question of a kind."""
    return [
        (entry.question.thread_id, {name: label(about, vote) for name, vote in entry.votes.items()})
        for entry in all_votes
        if entry.question.about == about
    ]


class _Estimate(NamedTuple):
    """Statistic with its interval, or the reason of a missing one."""

    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str | None = None


def _with_interval(statistic: Callable[[Floats], float], n_threads: int, resamples: int, seed: int) -> _Estimate:
    """Return the statistic on all threads, and its interval over the resamples that define it."""
    rng = np.random.default_rng(seed)
    with np.errstate(invalid="ignore", divide="ignore"):  # one answer throughout: 0 / 0, returned as None
        value = statistic(np.ones(n_threads))
        if np.isnan(value):
            return _Estimate(None, reason="one label throughout, so kappa is undefined")
        if n_threads < SMALLEST_SAMPLE:
            few = f"{count(n_threads, 'thread')}, an interval of kappa needs at least {SMALLEST_SAMPLE}"
            return _Estimate(value, reason=few)
        drawn = rng.multinomial(n_threads, np.full(n_threads, 1 / n_threads), size=resamples)
        values = np.array([statistic(times.astype(float)) for times in drawn])
    defined = values[~np.isnan(values)]
    if not len(defined) or np.ptp(defined) < _ROUNDING:
        return _Estimate(value, reason="all resamples give the same kappa, which says nothing of other threads")
    low, high = np.quantile(defined, (0.025, 0.975))
    if high - low < _ROUNDING:
        return _Estimate(value, reason="nearly all resamples give the same kappa, which says nothing of other threads")
    return _Estimate(value, float(low), float(high))
