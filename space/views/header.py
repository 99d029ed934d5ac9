"""Header above every tab: name of the leaderboard, three facts, links to the tabs."""

from __future__ import annotations

from collections.abc import Sequence

from musicrs_metric.errors import some

from ..board.table_rows import TableRow
from . import display_names
from .address import TABS, Address
from .html import Html, tag


def header(
    rows: Sequence[TableRow],
    genres: int,
    address: Address,
    left_out: Sequence[str] = (),
    *,
    is_other: bool = False,
) -> Html:
    """Render the header.

    Args:
        rows: All rows on the first pool design, chance first.
        genres: Number of genres in the data.
        address: State of the page.
        left_out: Values of the URL that are unknown or invalid.
        is_other: True if the page shows another state than the URL, which the script then corrects.
    """
    chance, *others = rows
    submitted = [row for row in others if row.kind == "submitted"]
    return tag(
        "header",
        tag(
            "div",
            tag("h1", "MusiCRS leaderboard"),
            tag(
                "p",
                "A user asks for music in words, with clips, or both. A system ranks about one hundred songs, artists "
                "and albums. The leaderboard computes all scores, each with its chance level and its interval.",
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
    names_text = some([f"no {name}" for name in different])
    return tag(
        "p", f"{names_text}; shown without {'it' if len(different) == 1 else 'them'}", class_="warn", role="status"
    )


def _facts(chance: TableRow, submitted: Sequence[TableRow], genres: int) -> list[Html]:
    above = sum(
        standing.chance is not None and standing.chance.verdict == "above"
        for row in submitted
        if (standing := row.standings.get("recall@20"))
    )
    by_chance = display_names.percent(chance.values.get("recall@20"))
    facts = {
        display_names.plural(len(submitted), "system"): f"{above} above chance on recall@20",
        display_names.plural(chance.n or 0, chance.unit): display_names.plural(genres, "genre"),
        f"{by_chance} by chance": "recall@20 of a random order of each pool",
    }
    return [tag("li", tag("b", fact), tag("span", note)) for fact, note in facts.items()]


def _tab(name: str, address: Address) -> Html:
    fresh = Address(tab=name, pools=address.pools, data=address.data)
    return tag(
        "a", display_names.TABS[name], href=fresh.to(), data_go=True, data_tab=name,
        aria_current="page" if name == address.tab else None,
    )  # fmt: skip
