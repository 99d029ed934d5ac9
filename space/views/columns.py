"""Columns of the table that the reader chooses: facts that the submitter states about model and run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple
from urllib.parse import quote

from musicrs_metric.base.paths import REPO_NAME
from musicrs_metric.runs.run_card import RunCard

from ..board.table_rows import TableRow, parameters_of
from ..submission import SubmissionEntry
from .address import Address
from .html import Html, join, outside_link, tag

UNKNOWN = "unknown"
_HUB = "https://huggingface.co"
_SHOWN_OF_REVISION = 12
_UNITS = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k"))


class Column(NamedTuple):
    """A column.

    Attributes:
        head: Text of its head.
        cell: Returns the content of a cell; None if it is unknown.
    """

    head: str
    cell: Callable[[SubmissionEntry], str | Html | None]


def heads(address: Address) -> Iterator[Html]:
    """Yield the heads of the chosen columns."""
    for name in address.chosen_columns:
        yield tag("th", COLUMNS[name].head, scope="col")


def cells(row: TableRow, address: Address) -> Iterator[Html]:
    """Yield the cells of the chosen columns. A value that is not stated is "unknown"."""
    for name in address.chosen_columns:
        column = COLUMNS[name]
        content = None if row.submission is None else column.cell(row.submission.entry)
        if row.kind == "chance":
            yield tag("td", class_="fact")
        elif content is None:
            yield tag("td", tag("span", UNKNOWN, class_="unknown"), class_="fact", data_label=column.head)
        else:
            yield tag("td", content, class_="fact", data_label=column.head, dir="auto")


def menu(address: Address) -> Html:
    """Return the menu of the columns."""
    boxes = [
        tag(
            "label",
            tag(
                "input", type="checkbox", value=name, checked=name in address.chosen_columns, data_join="columns",
                data_chosen="yes" if name in address.chosen_columns else "no",
            ),
            tag("span", column.head),
            class_="switch",
        )
        for name, column in COLUMNS.items()
    ]  # fmt: skip
    return tag("details", tag("summary", "Columns"), boxes, class_="menu", open=bool(address.chosen_columns))


def short_number(number: float) -> str:
    """Return a number with a unit, such as "7B"."""
    for size, unit in _UNITS:
        if number >= size:
            return f"{number / size:.3g}{unit}"
    return f"{number:g}"


def duration(seconds: float) -> str:
    """Return a duration, such as "1 h 05 min"."""
    if seconds < 60:
        return f"{seconds:.3g} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min"


def _parameters(entry: SubmissionEntry) -> str | None:
    number = parameters_of(entry.card)
    return None if number is None else short_number(number)


def _model(entry: SubmissionEntry) -> Html | None:
    card = entry.card
    if not card.model_id:
        return None
    name: str | Html = card.model_id
    if REPO_NAME.fullmatch(card.model_id):
        url = f"{_HUB}/{card.model_id}" + (
            f"/tree/{quote(card.model_revision, safe='')}" if card.model_revision else ""
        )
        name = outside_link(url, text=card.model_id) or name
    revision = (card.model_revision or "")[:_SHOWN_OF_REVISION]
    return join(name, tag("small", revision or "revision unknown"))


def _training(entry: SubmissionEntry) -> str | None:
    return {True: "trained for this task", False: "zero-shot", None: None}[entry.card.trained]


def _run(entry: SubmissionEntry) -> Html | None:
    card: RunCard = entry.card
    if card.wall_time_s is None and not card.hardware:
        return None
    time = f"time {UNKNOWN}" if card.wall_time_s is None else duration(card.wall_time_s)
    return join(time, tag("small", card.hardware or f"hardware {UNKNOWN}"))


COLUMNS: Mapping[str, Column] = {
    "parameters": Column("Parameters", _parameters),
    "licence": Column("Licence", lambda entry: entry.card.licence or None),
    "model": Column("Model, revision", _model),
    "code": Column("Code", lambda entry: outside_link(entry.code_link)),
    "training": Column("Training", _training),
    "run": Column("Time, hardware", _run),
}
"""Name in the URL to column, in the order of the table. `address.COLUMNS` has the same names."""
