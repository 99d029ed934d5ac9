"""Tab Genres: a heat map of the distance of every system from the chance level of each genre."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from musicrs_metric.base.genres import in_order
from musicrs_metric.paper.tables import OVERALL, Result

from ..board.rows import SubmissionRow
from . import display_names
from .address import Address
from .form_controls import choice, form, link
from .html import Html, join, tag
from .table import on_genre, page_of

# Distance from chance in points at which a colour is strongest.
_STRONGEST = 15


def chooser(address: Address, *, paper: bool) -> Html:
    """Return the fields of the tab.

    Args:
        address: State of the page.
        paper: True if the paper reports results on these pools.
    """
    return form(
        "Choose what the map shows",
        choice("metric", "Measure", display_names.METRICS, address),
        choice("reported", "Paper’s results", {"yes": "Shown", "no": "Hidden"}, address) if paper else None,
    )


def heat_map(
    rows: Sequence[SubmissionRow],
    reported: Sequence[Sequence[Result]],
    chance: Mapping[str, float | None],
    verdict_rule: str,
    address: Address,
) -> Html:
    """Render the heat map.

    Args:
        rows: Systems on the same pools, best first.
        reported: Results of the paper, one sequence per system with a result per genre.
        chance: Genre, and "Overall", to chance level.
        verdict_rule: Rule of the verdicts, in words.
        address: State of the page.
    """
    columns = [OVERALL, *in_order(genre for genre in chance if genre != OVERALL)]
    heads = [tag("th", "System", scope="col"), *(tag("th", column, scope="col") for column in columns)]
    level = tag(
        "tr",
        tag("th", "Chance", scope="row"),
        [tag("td", tag("b", display_names.percent(chance.get(column)))) for column in columns],
        class_="chance",
    )
    chosen, links = page_of(len(rows), address)
    table_rows = [_row(row, columns, chance, address) for row in rows[chosen]]
    reported_rows = [_reported(results, columns, chance, address) for results in reported]
    caption = (
        f"{display_names.metric(address.metric)} in per cent. Blue: higher than the chance level of the genre. "
        f"Orange: lower. Underlined: {verdict_rule}. The verdict covers the threads that have a prediction."
    )
    body = tag(
        "table",
        tag("caption", caption),
        tag("thead", tag("tr", heads)),
        tag("tbody", level, table_rows, reported_rows),
        class_="heat",
    )
    return join(tag("div", body, class_="scroll", tabindex=0, role="region", aria_label="Scores by genre"), links)


def _row(row: SubmissionRow, columns: Sequence[str], chance: Mapping[str, float | None], address: Address) -> Html:
    cells = []
    for column in columns:
        scores = row.scores if column == OVERALL else on_genre(row.scores, column)
        verdict = scores.verdict(address.metric)
        title = f"95 % {display_names.bounds((scores.interval or {}).get(address.metric))}"
        if verdict is not None:
            where = f" on the {display_names.plural(scores.n - scores.n_missing, scores.unit)} with a prediction"
            title += f", {verdict} chance{where if scores.n_missing else ''}"
        sure = verdict in ("above", "below")
        cells.append(_cell(scores.values[address.metric], chance.get(column), sure=sure, title=title))
    name = link(address, row.label, tab="leaderboard", row=row.key, class_="name")
    return tag("tr", tag("th", name, scope="row", dir="auto"), cells)


def _reported(
    results: Sequence[Result], columns: Sequence[str], chance: Mapping[str, float | None], address: Address
) -> Html:
    of = {result.genre: result.values.get(address.metric) for result in results}
    name = join(results[0].system, tag("small", f" {display_names.MODALITIES[results[0].modality].lower()}, reported"))
    cells = [_cell(of.get(column), chance.get(column)) for column in columns]
    return tag("tr", tag("th", name, scope="row"), cells, class_="reported")


def _cell(value: float | None, level: float | None, *, sure: bool = False, title: str | None = None) -> Html:
    text = display_names.percent(value)
    if value is None or level is None:
        return tag("td", text)
    share = max(-1.0, min(1.0, (value - level) * 100 / _STRONGEST))
    side = "above" if share >= 0 else "below"
    return tag(
        "td",
        tag("u" if sure else "span", text),
        class_=side,
        style=f"--share:{abs(share) * 100:.0f}%",
        title=f"{display_names.points(value - level)} points from chance" + (f", {title}" if title else ""),
    )
