"""Everything that the sections of a report are written from."""

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
        rows: What else is known of each thread, in the same order.
        runs: In the order of Table 1; at least one.
        comparison: Of all runs; None for a single one.
        reported: Whether the paper's own figures are set beside.
        resamples: Resamples of every interval.
        seed: Of every interval.
    """

    references: References
    rows: Sequence[Row]
    runs: Sequence[ReportRun]
    comparison: Comparison | None
    reported: bool
    resamples: int
    seed: int

    @property
    def published(self) -> bool:
        """Whether these are the data that the paper's figures speak of."""
        return self.references.fingerprint == PUBLISHED_FINGERPRINT

    @property
    def genres(self) -> list[str]:
        """The genres of the dataset, the paper's seven first and in its order."""
        present = set(self.references.groups["genre"])
        return in_order(present)

    def chance(self, genre: str = OVERALL) -> dict[str, float | None]:
        """Measure to chance level on a genre, or overall."""
        return scores_on(self.runs[0], genre).chance or {}

    def standing(self, run: ReportRun, metric: str) -> Standing | None:
        """How a run stands among the others; None where there are none."""
        if self.comparison is None:
            return None
        return next(found for found in self.comparison.metrics[metric].standings if found.system == run.label)


def scores_on(run: ReportRun, genre: str) -> Scores:
    """The scores of a run on a genre, or overall."""
    return run.scores if genre == OVERALL else run.scores.by["genre"][genre]
