"""Logging of scores to an experiment tracker."""

from __future__ import annotations

from dataclasses import asdict

from musicrs_metric.errors import UserError
from musicrs_metric.runs.run_card import RunCard
from musicrs_metric.scoring import Scores


def track_with_trackio(card: RunCard, scores: Scores) -> None:
    """Log a run to trackio.

    Args:
        card: The run card, logged as the configuration of the run.
        scores: The scores, logged as measures, with their chance levels under "chance/".

    Raises:
        UserError: trackio is not installed.
    """
    try:
        import trackio
    except ImportError as error:
        raise UserError(f"--tracker trackio: trackio is not installed ({error}); pip install trackio") from error
    trackio.init(project="musicrs", name=card.name, config=asdict(card), embed=False)
    chance = {f"chance/{name}": value for name, value in (scores.chance or {}).items()}
    trackio.log(scores.values | chance | {"n": scores.n})
    trackio.finish()
