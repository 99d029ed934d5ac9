"""What became of many questions, as counts and as a line for the manifest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..manifest import Counts
from .ask import Outcome


def count_outcomes(outcomes: Sequence[Outcome]) -> Counts:
    """Count questions: those with a result are kept, the others dropped by the reason of their failure."""
    dropped = Counter(outcome.failure for outcome in outcomes if outcome.failure is not None)
    return Counts(len(outcomes), len(outcomes) - dropped.total(), dict(sorted(dropped.items())))


def describe_outcomes(outcomes: Sequence[Outcome]) -> str:
    """Say by which rung of the ladder the answers were read, and how often a question was put again."""
    rungs = Counter(outcome.rung for outcome in outcomes if outcome.rung is not None)
    told = ", ".join(f"{rung} {n:,}" for rung, n in rungs.most_common()) or "none"
    return f"answers read: {told}; asked twice: {sum(outcome.asked == 2 for outcome in outcomes):,}"
