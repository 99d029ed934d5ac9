"""Logging of scores to an experiment tracker."""

from __future__ import annotations

from dataclasses import asdict
from typing import Literal

from musicrs_metric.errors import UserError
from musicrs_metric.runs.run_card import RunCard
from musicrs_metric.scoring import Scores

Tracker = Literal["none", "trackio"]


def track(tracker: Tracker, card: RunCard, scores: Scores) -> None:
    """Log a run with its card.

    Args:
        tracker: The tracker.
        card: The run card, logged as the configuration of the run.
        scores: The scores, logged as measures, with their chance levels under "chance/".

    Raises:
        UserError: The tracker is not installed.
    """
    if tracker == "none":
        return
    try:
        import trackio
    except ImportError as error:
        raise UserError(f"--tracker trackio: trackio is not installed ({error}); pip install trackio") from error
    trackio.init(project="musicrs", name=card.name, config=asdict(card), embed=False)
    chance = {f"chance/{name}": value for name, value in (scores.chance or {}).items()}
    trackio.log(scores.values | chance | {"n": scores.n})
    trackio.finish()
