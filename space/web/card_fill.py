"""Fields of the submit form that a run card fills. What a person has typed stays, and contradictions are named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from musicrs_metric.base.files import strict_json, to_json
from musicrs_metric.errors import show
from musicrs_metric.runs.run_card import RUN_CARD

from ..board.table_rows import CHOICES
from ..intake import SubmissionForm
from .fields import SUBMIT_FIELDS

_STANDARD = SubmissionForm()
_NOT_FILLED = ("pools", "show_sender")  # the form itself offers the pools of the run card; consent is for the person
_YES_NO = {True: "yes", False: "no"}
_FLAGS = ("open_weights", "trained")
_NUMBERS = ("parameters", "wall_time_s")  # text in the form
_LONGEST = 500


class Filled(NamedTuple):
    """The form after a run card was chosen.

    Attributes:
        values: Name of each field to its value.
        from_card: Fields that hold a value of the run card.
        notes: Contradictions and unusable values, in words.
    """

    values: dict[str, Any]
    from_card: dict[str, Any]
    notes: list[str]


def fill(card: bytes | None, typed: Mapping[str, Any], before: Mapping[str, Any]) -> Filled:
    """Fill the form from a run card.

    Args:
        card: Content of the run card; None if it was removed.
        typed: Name of each field to its current value.
        before: Values that the run card before has filled in.
    """
    notes: list[str] = []
    stated = {} if card is None else _usable(card, notes)
    values, from_card = dict(typed), {}
    for name in SUBMIT_FIELDS:
        if name in _NOT_FILLED:
            continue
        empty = _empty(name)
        is_typed = typed[name] not in (empty, None) and typed[name] != before.get(name)
        if not is_typed:
            values[name] = stated.get(name, empty)
            if name in stated:
                from_card[name] = stated[name]
        elif name in stated and stated[name] != typed[name]:
            notes.append(f"{name}: you typed {show(typed[name])}, {RUN_CARD} states {show(stated[name])}; yours counts")
    return Filled(values, from_card, notes)


def without_cleared(card: bytes, typed: Mapping[str, Any], from_card: Mapping[str, Any]) -> tuple[bytes, list[str]]:
    """Remove the fields from a run card that it has filled in and that the person has emptied again.

    Args:
        card: Content of the run card.
        typed: Name of each field to its value.
        from_card: Fields that the run card has filled in.

    Returns:
        The run card, and a note in words per removed field.
    """
    cleared = [name for name in from_card if typed[name] in (_empty(name), None) and from_card[name] != typed[name]]
    if not cleared:
        return card, []
    try:
        values = strict_json(card.decode("utf-8-sig"))
    except ValueError:
        return card, []
    kept = {name: value for name, value in values.items() if name not in cleared}
    notes = [f"{name}: you emptied it, {RUN_CARD} states {show(from_card[name])}; yours counts" for name in cleared]
    return to_json(kept).encode(), notes


def _empty(name: str) -> Any:
    """Return the value of an empty field of the form."""
    return None if name in CHOICES else "" if name in (*_FLAGS, *_NUMBERS) else getattr(_STANDARD, name)


def _usable(card: bytes, notes: list[str]) -> dict[str, Any]:
    """Return the values of a run card in the form of the fields, and note those that no field can hold."""
    try:
        values = strict_json(card.decode("utf-8-sig"))
    except ValueError:
        values = None
    if not isinstance(values, dict):
        notes.append(f"{RUN_CARD}: found no JSON object, expected a run card; the fields stay as they are")
        return {}
    usable = {}
    for name in SUBMIT_FIELDS:
        value = values.get(name)
        if value is None or name in _NOT_FILLED:
            continue
        if name in _FLAGS and isinstance(value, bool):
            usable[name] = _YES_NO[value]
        elif _fits(name, value):
            usable[name] = str(value) if name in _NUMBERS else value
        else:
            notes.append(f"{name}: {RUN_CARD} states {show(value)}, which the field cannot hold")
    return usable


def _fits(name: str, value: Any) -> bool:
    if name in CHOICES:
        return value in CHOICES[name]
    if name in ("partial", *_FLAGS):
        return isinstance(value, bool)
    if name in _NUMBERS and isinstance(value, int | float):
        return not isinstance(value, bool)
    return isinstance(value, str) and len(value) <= _LONGEST and name != "wall_time_s"
