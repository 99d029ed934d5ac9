"""Results of a run in the two formats that the Hub reads: `.eval_results/*.yaml`, and `model-index` in a model card.

The first shows one number on the leaderboard of the dataset, the second all measures on the model's page.
Formats: https://huggingface.co/docs/hub/eval-results and https://huggingface.co/docs/hub/model-cards
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, get_args

from ..base.numbers import percent
from ..errors import UserError, plain, show
from ..runs.filled_scores import FilledScores
from ..runs.read import score_predictions
from ..runs.references import References
from ..runs.run_card import Modality, RunCard
from ..runs.score_tables import shown_measures
from ..scoring import Scores

if TYPE_CHECKING:
    from huggingface_hub import EvalResult, EvalResultEntry

    from ..runs.read import RunFiles

TASKS: tuple[str, ...] = get_args(Modality)
HEADLINE = "recall@20"  # a task has one number on the Hub's leaderboard
_SPLIT = "test"
_VARIANT = re.compile(r"[a-z0-9][a-z0-9._-]{0,40}")


@dataclass(frozen=True, kw_only=True)
class HubResult:
    """The scores of one run on one task of the benchmark, computed from its predictions.

    Attributes:
        benchmark: Id of the dataset on the Hub.
        revision: Commit of that dataset; None if unknown.
        card: The run's card.
        scores: The scores.
        filled: Scores with the filled part at its expected value, if known.
        source: URL of the predictions or of the leaderboard row, or None.
        variant: Another way to use the same model, such as "centred"; None for the model itself.
    """

    benchmark: str
    revision: str | None
    card: RunCard
    scores: Scores
    filled: FilledScores | None = None
    source: str | None = None
    variant: str | None = None

    @property
    def task(self) -> str:
        """Return the task of the benchmark, which is the configuration of the dataset."""
        return self.card.config

    @property
    def notes(self) -> str:
        """Return the notes to the number: unit, interval, chance level, n, pools and fingerprint."""
        return "; ".join(_notes(self))

    def entry(self) -> EvalResultEntry:
        """Return the result as an entry of `.eval_results/*.yaml`. Its value is in percent."""
        from huggingface_hub import EvalResultEntry

        return EvalResultEntry(
            dataset_id=self.benchmark,
            task_id=self.task,
            value=_percent(self.scores, HEADLINE),
            dataset_revision=self.revision,
            date=_date(self.card.created_at),
            source_url=self.source,
            notes=self.notes,
        )

    def model_index(self) -> list[EvalResult]:
        """Return all measures of the benchmark's tables as results of a model card, in percent."""
        from huggingface_hub import EvalResult

        return [
            EvalResult(
                task_type="text-retrieval",
                task_name="Conversational music recommendation",
                dataset_type=self.benchmark,
                dataset_name=f"MusiCRS ({self.task if self.variant is None else f'{self.task}, {self.variant}'})",
                dataset_config=self.task,
                dataset_split=_SPLIT,
                dataset_revision=self.revision,
                metric_type=measure,
                metric_name=f"{measure} (%)",
                metric_value=_percent(self.scores, measure),
                source_name=None if self.source is None else "MusiCRS",
                source_url=self.source,
            )
            for measure in shown_measures(self.scores)
        ]


def hub_result(
    run: RunFiles,
    references: References,
    *,
    benchmark: str,
    revision: str | None = None,
    source: str | None = None,
    variant: str | None = None,
) -> HubResult:
    """Compute the result of a run for the Hub.

    Args:
        run: Predictions with their card, as `musicrs_metric.runs.read.read_run` returns them.
        references: The dataset.
        benchmark: Id of the dataset on the Hub.
        revision: Commit of that dataset.
        source: URL of the predictions or of the leaderboard row; https.
        variant: Another way to use the same model: a short word.

    Returns:
        The result.

    Raises:
        UserError: The run has no card, its configuration is no task of the benchmark, the source is no https URL, or
            the variant is no short word.
    """
    if run.card is None:
        raise UserError(
            f"{run.predictions.path}: found no run.json in the same folder; the Hub entry needs its name, model and "
            "`reads`"
        )
    if run.card.config not in TASKS:
        raise UserError(
            f"the run was made on configuration {plain(run.card.config)}; expected a task of the benchmark "
            f"({', '.join(TASKS)}), because other pools give other numbers"
        )
    if source is not None and not source.startswith("https://"):
        raise UserError(f"--source is {plain(source)}, expected a URL that starts with https://")
    if variant is not None and not _VARIANT.fullmatch(variant):
        raise UserError(f"--variant is {show(variant)}, expected a short word of a-z, 0-9, '.', '_' and '-'")
    scored = score_predictions(run.predictions, references)
    return HubResult(
        benchmark=benchmark, revision=revision, card=run.card, scores=scored.scores, filled=scored.filled,
        source=source, variant=variant,
    )  # fmt: skip


def _percent(scores: Scores, measure: str) -> float:
    return round(100 * (scores.values[measure] or 0.0), 2)


def _date(created_at: str | None) -> str | None:
    """Return the time of the run if the Hub can read it."""
    try:
        return created_at if created_at is not None and datetime.fromisoformat(created_at) else None
    except ValueError:
        return None


def _notes(result: HubResult) -> Iterator[str]:
    card, scores = result.card, result.scores
    yield f"{HEADLINE} in %"
    if scores.interval is not None:
        low, high = scores.interval[HEADLINE]
        yield f"95 % interval {percent(low)} to {percent(high)} ({scores.interval_method} over threads)"
    elif scores.interval_reason is not None:
        yield f"no interval ({scores.interval_reason})"
    if scores.chance is not None:
        yield f"chance {percent(scores.chance[HEADLINE])}"
    empty = f", {scores.n_empty} of them with an empty ground truth, counted as 0" if scores.n_empty else ""
    missing = f", {scores.n_missing} without a prediction, counted as 0" if scores.n_missing else ""
    yield f"n = {scores.n} threads{empty}{missing}"
    if result.filled is not None and result.filled.filled:
        expected = percent(result.filled.expected[HEADLINE])
        yield f"{percent(result.filled.filled)} % of the pools filled in random order, {expected} with that at chance"
    yield f"system {plain(card.name)}, reads {card.reads}"
    yield f"{plain(card.pools or 'published')} pools, fingerprint {card.fingerprint}"
