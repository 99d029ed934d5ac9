"""What stands above every tab: the name of the board, what its numbers mean, and the way from tab to tab."""

from __future__ import annotations

from collections.abc import Sequence

from musicrs_metric.errors import some

from ..board.table_rows import TableRow
from . import display_names
from .address import TABS, Address
from .html import Html, tag


def header(
    table_rows: Sequence[TableRow],
    genres: int,
    address: Address,
    left_out: Sequence[str] = (),
    *,
    is_other: bool = False,
) -> Html:
    """Make the head of the page.

    Args:
        table_rows: All lines of the board on the first design of pools, chance first.
        genres: How many genres the data have.
        address: What the page shows.
        left_out: What the address names and there is not.
        is_other: Whether the page shows something else than the address says, which then has to follow.
    """
    chance, *others = table_rows
    submitted = [row for row in others if row.kind == "submitted"]
    return tag(
        "header",
        tag(
            "div",
            tag("h1", "MusiCRS leaderboard"),
            tag(
                "p",
                "Someone asks for music in words, in clips, or both; a system ranks some hundred songs, artists and "
                "albums. Scores are computed here, each beside its chance level and its interval.",
                class_="lead",
            ),
            class_="title",
        ),
        tag("ul", _facts(chance, submitted, genres), class_="facts"),
        tag("nav", [_tab(name, address) for name in TABS], class_="tabs", aria_label="Main"),
        _left_out(left_out) if left_out else None,
        data_address=address.to() if is_other else None,
    )


def _left_out(names: Sequence[str]) -> Html:
    different = list(dict.fromkeys(names))
    said = some([f"no {name}" for name in different])
    return tag("p", f"{said}; shown without {'it' if len(different) == 1 else 'them'}", class_="warn", role="status")


def _facts(chance: TableRow, submitted: Sequence[TableRow], genres: int) -> list[Html]:
    above = sum(
        standing.chance is not None and standing.chance.verdict == "above"
        for row in submitted
        if (standing := row.standings.get("recall@20"))
    )
    by_chance = display_names.percent(chance.values.get("recall@20"))
    facts = {
        display_names.plural(len(submitted), "system"): f"{above} above chance on recall@20",
        display_names.plural(chance.n or 0, "thread"): display_names.plural(genres, "genre"),
        f"{by_chance} by chance": "what a random order of each pool gets on recall@20",
    }
    return [tag("li", tag("b", fact), tag("span", told)) for fact, told in facts.items()]


def _tab(name: str, address: Address) -> Html:
    fresh = Address(tab=name, pools=address.pools)
    return tag(
        "a", display_names.TABS[name], href=fresh.to(), data_go=True, data_tab=name,
        aria_current="page" if name == address.tab else None,
    )  # fmt: skip
