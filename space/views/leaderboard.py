"""The first tab: what can be chosen, the table, and the table as a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..board.export import Form
from ..board.lines import Line
from . import display_names as words
from .address import Address
from .form_controls import choice, filter_choice, form, search, switch
from .html import Html, join, tag
from .table import table

FORMATS: Mapping[Form, str] = {"markdown": "Markdown", "csv": "CSV", "latex": "LaTeX"}


def leaderboard(
    lines: Sequence[Line], designs: Sequence[str], genres: Sequence[str], here: Address, *, paper: bool
) -> Html:
    """Make the tab.

    Args:
        lines: What the table shows, chance first.
        designs: Names of the pool designs, the first one first.
        genres: Genres of the data, in the order of the page.
        here: The page as it is.
        paper: Whether the paper reports figures on these pools.
    """
    return join(_controls(designs, genres, here, paper), table(lines, here), _below(here))


def _controls(designs: Sequence[str], genres: Sequence[str], here: Address, paper: bool) -> Html:
    pools = {"": designs[0].capitalize(), **{name: name.capitalize() for name in designs[1:]}}
    turned = {"": "Best first", "reversed": "Worst first"}
    return form(
        "Choose what the table shows",
        search("System", here),
        filter_choice("modality", "Modality", words.MODALITIES, here),
        filter_choice("paradigm", "Paradigm", words.PARADIGMS, here),
        filter_choice("reads", "Reads", words.READS, here),
        filter_choice("genre", "Genre", {genre: genre for genre in genres}, here),
        filter_choice("weights", "Weights", words.WEIGHTS, here),
        choice("pools", "Pools", pools, here) if len(designs) > 1 else None,
        choice("sort", "Sort by", words.SORTS, here),
        choice("order", "Order", turned, here),
        switch("reported", "Rows reported by the paper", here) if paper else None,
    )


def _below(here: Address) -> Html:
    saves = [
        tag("button", text, type="button", data_save=f"table {name}", class_="action") for name, text in FORMATS.items()
    ]
    return tag(
        "footer",
        tag("p", tag("span", "This table as a file: "), saves, class_="actions"),
        tag(
            "p",
            "Systems are ranked among those that read the same; one that is alone there has no rank. A group holds the "
            "systems that a paired test cannot tell from its best one; a lead within a group is no lead. ",
            tag("a", "How to read the table", href=Address(tab="about", pools=here.pools).to(), data_go=True),
            class_="soft",
        ),
    )
