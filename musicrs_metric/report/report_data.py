"""Data, runs and comparison that the sections of a report use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..base.genres import in_order
from ..compare import Comparison
from ..compare.results import Standing
from ..paper.tables import OVERALL, PUBLISHED_FINGERPRINT
from ..runs.references import References
from ..scoring import Scores
from .runs import ReportRun
from .threads import Row


@dataclass(frozen=True)
class ReportData:
    """Data, runs and their comparison.

    Attributes:
        references: Pools and labels.
        rows: Other columns of each thread, in the same order.
        runs: In the order of Table 1; at least one.
        comparison: Comparison of all runs; None for a single run.
        reported: Whether the report adds the figures of the paper.
        resamples: Number of resamples of every interval.
        seed: Seed of every interval.
        figure_metric: Measure of the figure by genre.
    """

    references: References
    rows: Sequence[Row]
    runs: Sequence[ReportRun]
    comparison: Comparison | None
    reported: bool
    resamples: int
    seed: int
    figure_metric: str = "mrr"

    @property
    def published(self) -> bool:
        """Return whether these are the data of the paper's figures."""
        return self.references.fingerprint == PUBLISHED_FINGERPRINT

    @property
    def genres(self) -> list[str]:
        """Return the genres of the dataset, the paper's seven first and in its order."""
        present = set(self.references.groups["genre"])
        return in_order(present)

    def chance(self, genre: str = OVERALL) -> dict[str, float | None]:
        """Return measure to chance level on a genre, or overall."""
        return scores_on(self.runs[0], genre).chance or {}

    def standing(self, run: ReportRun, metric: str) -> Standing | None:
        """Return the standing of a run among the others; None for a single run."""
        if self.comparison is None:
            return None
        return next(found for found in self.comparison.metrics[metric].standings if found.system == run.label)


def scores_on(run: ReportRun, genre: str) -> Scores:
    """Return the scores of a run on a genre, or overall."""
    return run.scores if genre == OVERALL else run.scores.by["genre"][genre]
