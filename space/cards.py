"""A run card that is no file: what somebody sent beside a prediction file."""

from __future__ import annotations

from typing import Any

from musicrs_metric.base.files import strict_json
from musicrs_metric.errors import UserError, show
from musicrs_metric.runs.run_card import RUN_CARD


def parse_card_values(content: bytes) -> dict[str, Any]:
    """Read the fields of a run card, which may be too few for one.

    Args:
        content: What `run.json` holds.

    Raises:
        UserError: It is no JSON object.
    """
    try:
        values = strict_json(content.decode("utf-8-sig"))
    except ValueError as error:
        raise UserError(f"{RUN_CARD}: not a run card, found no JSON ({error})") from error
    if not isinstance(values, dict):
        raise UserError(f"{RUN_CARD}: not a run card, found {show(values)}, expected a JSON object")
    return values
