"""Scores of the predictions of a submission."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from musicrs_metric.compare import HEADLINE, System
from musicrs_metric.compare.standings import measure_alone
from musicrs_metric.errors import UserError
from musicrs_metric.hits import Hits, hits_from_strings
from musicrs_metric.matching import Pool
from musicrs_metric.measures import measure
from musicrs_metric.runs.predictions import Prediction, rankings_for
from musicrs_metric.scoring import ThreadTable, summarise

from .data import PoolDesign
from .rows import Judged


def judge(predictions: Sequence[Prediction], design: PoolDesign) -> Judged:
    """Score predictions in the same way as `musicrs-metric score`.

    Args:
        predictions: One per thread. A thread without one counts as 0.
        design: The data on which they were made.

    Raises:
        UserError: A thread is not in the data.
    """
    references = design.references
    rankings = rankings_for(predictions, references)
    hits = hits_from_strings(rankings, references.ground_truth, references.candidates)
    table = table_of(hits, design)
    units = design.units(table)
    silent = {prediction.thread_id for prediction in predictions if prediction.outcome == "no_audio"}
    return Judged(
        scores=summarise(units, groups={"genre": design.genre_of_units}),
        table=table,
        units=units,
        no_audio=np.array([thread in silent for thread in references.thread_ids], dtype=bool),
        outcomes=Counter(prediction.outcome for prediction in predictions),
        answered=_answered(predictions),
        alone=measure_alone(System("", units), HEADLINE),
    )


def still_valid(predictions: Sequence[Prediction], design: PoolDesign) -> list[Prediction]:
    """Return the predictions that a changed dataset still has threads for, if their titles are still in the pools.

    Args:
        predictions: Predictions that were made on another version of the data.
        design: The current version.

    Raises:
        UserError: No thread is left, or more than half of the titles are in no pool.
    """
    position = design.references.position
    kept = [prediction for prediction in predictions if prediction.thread_id in position]
    known = total = 0
    for prediction in kept:
        pool = Pool(design.references.candidates[position[prediction.thread_id]])
        total += len(prediction.ranking)
        known += sum(pool.resolve(title) is not None for title in prediction.ranking)
    if not kept or 2 * known <= total:
        raise UserError(
            f"found predictions for other data: {len(kept)} of {len(predictions)} threads and {known} of {total} of "
            "their titles are in the current data"
        )
    return kept


def table_of(hits: Hits, design: PoolDesign) -> ThreadTable:
    """Return the values per thread of judged rankings. Chance and ceiling depend on the data alone and are shared."""
    blank = design.unanswered
    return ThreadTable(hits, blank.k, measure(hits, blank.k), blank.chance, blank.ceiling)


def _answered(predictions: Sequence[Prediction]) -> float | None:
    """Return the mean share of the ranking that the system gave itself, over the predictions that state it."""
    shares = [
        prediction.n_answered / len(prediction.ranking) if prediction.ranking else 0.0
        for prediction in predictions
        if prediction.n_answered is not None
    ]
    return sum(shares) / len(shares) if shares else None
