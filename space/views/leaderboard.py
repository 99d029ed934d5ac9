"""Tab Leaderboard: the filters, the table, and the files to download."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from musicrs_metric.errors import UserError, show

from ..board.export import ExportFormat, export, file_name_of
from ..board.status import LABELS_ARE_PUBLIC
from ..board.table_rows import TableRow, table_rows
from ..service import LeaderboardService
from . import columns, display_names
from .address import Address
from .form_controls import choice, filter_choice, form, search, status_choice
from .html import Html, join, tag
from .table import table

FORMATS: Mapping[ExportFormat, str] = {"markdown": "Markdown", "csv": "CSV", "latex": "LaTeX"}
_OLDER = (
    "This is an older version of the data. The table has the submissions that were made for it, with their scores and "
    "ranks on it. New submissions are on the current version."
)


def leaderboard(
    rows: Sequence[TableRow],
    designs: Sequence[str],
    genres: Sequence[str],
    address: Address,
    *,
    paper: bool,
    versions: Mapping[str, str],
) -> Html:
    """Render the tab.

    Args:
        rows: Rows of the table, chance first.
        designs: Names of the pool designs.
        genres: Genres of the data, in the order of the page.
        address: State of the page.
        paper: True if the paper reports results on these pools.
        versions: Name of each version of the data to its text.
    """
    further = form("Choose more columns", columns.menu(address))
    controls = _controls(designs, genres, address, paper, versions)
    older = tag("p", _OLDER, class_="warn", role="status") if address.data else None
    return join(controls, further, older, table(rows, address), _below(address))


def _controls(
    designs: Sequence[str], genres: Sequence[str], address: Address, paper: bool, versions: Mapping[str, str]
) -> Html:
    pools = {"": designs[0].capitalize(), **{name: name.capitalize() for name in designs[1:]}}
    orders = {"": "Best first", "reversed": "Worst first"}
    return form(
        "Choose what the table shows",
        search("System", address),
        filter_choice("modality", "Modality", display_names.MODALITIES, address),
        filter_choice("paradigm", "Paradigm", display_names.PARADIGMS, address),
        filter_choice("reads", "Reads", display_names.READS, address),
        filter_choice("genre", "Genre", {genre: genre for genre in genres}, address),
        filter_choice("weights", "Weights", display_names.WEIGHTS, address),
        status_choice(address),
        choice("pools", "Pools", pools, address) if len(designs) > 1 else None,
        choice("data", "Data", versions, address) if len(versions) > 1 else None,
        choice("sort", "Sort by", display_names.SORTS, address),
        choice("order", "Order", orders, address),
        choice("reported", "Paper’s results", display_names.REPORTED, address) if paper else None,
    )


def _below(address: Address) -> Html:
    buttons = [
        tag("button", text, type="button", data_save=f"table {name}", class_="action") for name, text in FORMATS.items()
    ]
    meaning = Address(tab="about", pools=address.pools, data=address.data)
    return tag(
        "footer",
        tag("p", tag("span", "Download this table: "), buttons, class_="actions"),
        tag(
            "p",
            "Systems are ranked among those that read the same. A system without such peers has no rank. A rank group "
            "holds the best system and all that a paired test does not separate from it. Partial rows, control runs "
            "and copies of earlier rows are not ranked. ",
            tag(
                "a",
                "How to read the table",
                href=meaning.to(),
                data_go=True,
            ),
            class_="soft",
        ),
        tag("p", LABELS_ARE_PUBLIC, class_="soft"),
    )


def download(service: LeaderboardService, address: Address, what: object) -> dict[str, str]:
    """Make a file for the user.

    Args:
        service: The leaderboard.
        address: State of the page.
        what: "table" and a format, or "predictions" and the key of a row. Values of any type are accepted.

    Returns:
        `name` and `text` of the file, or `error` in one sentence.
    """
    kind, _, name = what.partition(" ") if isinstance(what, str) else ("", "", "")
    try:
        if kind == "predictions":
            return {"name": f"predictions-{name[:12]}.jsonl", "text": service.predictions(name)}
        for form in FORMATS:
            if kind == "table" and name == form:
                rows = table_rows(service.board_of(address.data), address.query)
                return {"name": file_name_of(form), "text": export(rows, form)}
        raise UserError(f"found no file {show(what)}")
    except UserError as error:
        return {"error": str(error)}
