"""Preview of a link to the leaderboard, as chats and social networks show it: title, one line, picture of the chart."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import NamedTuple

from musicrs_metric.base import numbers
from musicrs_metric.errors import UserError, plain

from ..board.board import Board
from ..board.table_rows import TableRow, fold_reported, table_rows
from . import display_names
from .address import Address

_SITE = "MusiCRS leaderboard"
_TABS = {
    "leaderboard": _SITE,
    "compare": f"Two systems compared – {_SITE}",
    "genres": f"Scores by genre – {_SITE}",
    "trends": f"Scores against size and date – {_SITE}",
    "threads": f"Threads – {_SITE}",
    "submit": f"Submit – {_SITE}",
    "about": f"About – {_SITE}",
}
_WIDTH, _HEIGHT, _ROWS = 1200, 630, 9
_INK, _SOFT, _ACCENT = "#16181d", "#5b616b", "#005a8f"
_LEFT, _RIGHT, _TOP, _STEP = 470, 1100, 130, 50


class LinkPreview(NamedTuple):
    """Texts of a preview, not escaped."""

    title: str
    description: str


def link_preview(board: Board, address: Address) -> LinkPreview:
    """Describe the page at an address.

    Args:
        board: The leaderboard of the version of the data that the address names.
        address: State of the page.
    """
    chance, *others = _rows(board, address)
    row = next((one for one in others if one.key == address.row), None) if address.row else None
    if row is not None:
        return LinkPreview(f"{plain(row.label)} – {_SITE}", _score(row, chance, address))
    title = _TABS[address.tab]
    if address.tab == "threads" and address.thread:
        title = f"Thread {plain(address.thread)} – {_SITE}"
    ranked = [one for one in others if one.is_ranked and one.values.get(address.drawn) is not None]
    best = max(ranked, key=lambda one: one.values[address.drawn] or 0.0, default=None)
    count = display_names.plural(sum(one.submission is not None for one in others), "system")
    leader = f" Highest: {plain(best.label)} (reads {best.reads}), {_score(best, chance, address)}" if best else ""
    return LinkPreview(title, f"Conversational music recommendation, {count}.{leader}")


def preview_picture(board: Board, address: Address) -> bytes:
    """Draw the first rows of the table with intervals and chance, 1200 × 630 pixels, as PNG."""
    from PIL import Image, ImageDraw, ImageFont

    chance, *others = _rows(board, address)
    shown = [row for row in others if row.values.get(address.drawn) is not None][:_ROWS]
    picture = Image.new("RGB", (_WIDTH, _HEIGHT), "white")
    draw = ImageDraw.Draw(picture)
    large, small = ImageFont.load_default(40), ImageFont.load_default(26)
    draw.text((50, 40), f"{_SITE}: {display_names.metric(address.drawn)}, %", _INK, large)
    level = chance.values.get(address.drawn) or 0.0
    highest = max([level, *(_ends(row, address)[1] for row in shown)], default=level) or 1.0

    def x(value: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * value / highest

    bottom = _TOP + _STEP * max(len(shown), 1)
    for y in range(_TOP, bottom, 12):
        draw.line((x(level), y, x(level), y + 6), _SOFT, 3)
    draw.text((x(level), bottom + 12), f"chance {numbers.percent(level)}", _SOFT, small, anchor="ma")
    for i, row in enumerate(shown):
        y = _TOP + _STEP * i + _STEP // 2
        low, high = _ends(row, address)
        value = row.values[address.drawn] or 0.0
        draw.text((50, y), _short(row.label), _INK, small, anchor="lm")
        draw.line((x(low), y, x(high), y), _ACCENT, 5)
        draw.ellipse((x(value) - 9, y - 9, x(value) + 9, y + 9), _ACCENT)
        draw.text((_WIDTH - 25, y), numbers.percent(value), _INK, small, anchor="rm")
    file = io.BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()


def _rows(board: Board, address: Address) -> Sequence[TableRow]:
    """Return the rows of an address, chance first; those of the first page if it names what does not exist."""
    try:
        rows = table_rows(board, address.query)
    except UserError:
        rows = table_rows(board)
    return fold_reported(rows, address.drawn)


def _score(row: TableRow, chance: TableRow, address: Address) -> str:
    measure = address.drawn
    standing = row.standings.get(measure)
    words = [
        f"{display_names.metric(measure)} {numbers.percent(row.values.get(measure))}",
        f"[{numbers.percent_range(interval)}]" if (interval := row.interval.get(measure)) else "",
    ]
    verdict = f", {standing.chance.verdict} chance" if standing is not None and standing.chance is not None else ""
    return f"{' '.join(filter(None, words))}{verdict} ({numbers.percent(chance.values.get(measure))})."


def _ends(row: TableRow, address: Address) -> tuple[float, float]:
    value = row.values.get(address.drawn) or 0.0
    return row.interval.get(address.drawn) or (value, value)


def _short(label: str) -> str:
    text = plain(label)
    return text if len(text) <= 30 else f"{text[:29]}…"
