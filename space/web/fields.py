"""Fields that programs and pages send: one table of filters, one of the fields of a submission."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, NamedTuple

from musicrs_metric.errors import UserError, show

from ..board.table_rows import CHOICES, RowQuery
from ..intake import SubmissionForm

_STANDARD = RowQuery()
_FLAGS = {"true": True, "false": False, "": None}


class Filter(NamedTuple):
    """A field that selects or sorts rows of the table.

    Attributes:
        attribute: The attribute of `RowQuery` that it sets.
        convert: Turns the sent text, or true or false, into the value of the attribute. An empty value means "not set".
    """

    attribute: str
    convert: Callable[[Any], Any]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _choice(value: Any) -> tuple[str, ...]:
    return (value,) if _text(value) else ()


def _flag(value: Any) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    if value not in _FLAGS:
        raise UserError(f"{show(value)}, expected true or false")
    return _FLAGS[value]


FILTERS: Mapping[str, Filter] = {
    "data": Filter("version", _text),
    "pools": Filter("design", _text),
    **{name: Filter(name, _choice) for name in CHOICES},
    "genre": Filter("genre", _text),
    "open_weights": Filter("open_weights", _flag),
    "status": Filter("status", _text),
    "reported": Filter("reported", _flag),
    "sort": Filter("sort", _text),
    "ascending": Filter("ascending", _flag),
}
"""Name of the field, in the order of the endpoint `/leaderboard`, to its meaning."""

SUBMIT_FIELDS = tuple(field.name for field in fields(SubmissionForm))
"""Names of the fields of a submission, next to the predictions and the run card."""


def row_query(sent: Mapping[str, Any]) -> RowQuery:
    """Turn the fields of a request into a query.

    Args:
        sent: Names of `FILTERS` to text, true or false. An empty or absent value leaves the standard of `RowQuery`.

    Raises:
        UserError: A name is unknown, or a value has another type.
    """
    values: dict[str, Any] = {}
    for name, value in sent.items():
        if name not in FILTERS:
            raise UserError(f"found {show(name)}, expected {', '.join(FILTERS)} or details")
        if not isinstance(value, str | bool | None):
            raise UserError(f"{name} is {show(value)}, expected text")
        attribute, convert = FILTERS[name]
        try:
            converted = convert(value)
        except UserError as error:
            raise UserError(f"{name} is {error}") from None
        values[attribute] = getattr(_STANDARD, attribute) if converted in ("", None) else converted
    return RowQuery(**values)


def submission_form(sent: Mapping[str, Any]) -> SubmissionForm:
    """Take the fields of a submission out of the arguments of an endpoint; other names are ignored."""
    return SubmissionForm(**{name: sent[name] for name in SUBMIT_FIELDS if name in sent})
