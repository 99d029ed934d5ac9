"""Blocks of a report. Every text is final here. Renderers compute no number. `report.json` holds these fields."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from ..base.tables import Table

ItemState = Literal["hit", "miss", "unknown"]


@dataclass(frozen=True, slots=True)
class Series:
    """Values of one kind across the labels of a panel.

    Attributes:
        name: Name in the legend; empty if the panel has one series.
        values: One per label; None if undefined.
        texts: Text at each bar; empty for none.
        low: Lower ends of the intervals; empty for none.
        high: Upper ends.
    """

    name: str
    values: tuple[float | None, ...]
    texts: tuple[str, ...] = ()
    low: tuple[float | None, ...] = ()
    high: tuple[float | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Panel:
    """One set of axes.

    Attributes:
        title: Title above the axes.
        labels: Labels of the values.
        groups: One per label, for colour and hatch or marker; empty for none.
        series: The values.
        ticks: Ticks of the value axis.
        tick_texts: Labels of the ticks.
        line: Value of a line across the panel, or None.
    """

    title: str
    labels: tuple[str, ...]
    series: tuple[Series, ...]
    ticks: tuple[float, ...]
    tick_texts: tuple[str, ...]
    groups: tuple[str, ...] = ()
    line: float | None = None


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure as data.

    Attributes:
        name: Stem of its files.
        caption: Caption below the figure.
        style: "bars" or "dots".
        panels: Panels in reading order.
        columns: Panels per row.
        legend: Entries of the legend: group, or the name of the line.
        data: The same numbers as a table.
    """

    name: str
    caption: str
    style: Literal["bars", "dots"]
    panels: tuple[Panel, ...]
    columns: int
    legend: tuple[str, ...]
    data: Table
    kind: Literal["figure"] = "figure"


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph."""

    text: str
    kind: Literal["text"] = "text"


@dataclass(frozen=True, slots=True)
class Sound:
    """A clip of a case.

    Attributes:
        label: Name, start and length.
        key: Key of the audio in the HTML page; None if the page does not embed it.
        note: Reason why it is not embedded; empty otherwise.
    """

    label: str
    key: str | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    """A title in a ranking or a pool."""

    rank: str
    text: str
    state: ItemState


@dataclass(frozen=True, slots=True)
class Answer:
    """First ranks of one system in one thread."""

    system: str
    summary: str
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Link:
    """A link of the post. The page loads nothing from it."""

    text: str
    url: str


@dataclass(frozen=True, slots=True)
class Case:
    """One thread with the rankings of all systems."""

    title: str
    why: str
    facts: tuple[tuple[str, str], ...]
    sounds: tuple[Sound, ...]
    links: tuple[Link, ...]
    ground_truth: tuple[str, ...]
    pool: tuple[Item, ...]
    pool_title: str
    answers: tuple[Answer, ...]
    kind: Literal["case"] = "case"


Block = Text | Table | Figure | Case


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the report. `key` is its anchor."""

    key: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """The whole report."""

    title: str
    lead: tuple[str, ...]
    sections: tuple[Section, ...]

    def figures(self) -> Iterable[Figure]:
        """Yield every figure, in order."""
        for section in self.sections:
            for block in section.blocks:
                if isinstance(block, Figure):
                    yield block

    def tables(self) -> Iterable[Table]:
        """Yield every table, and the data of every figure as a table, in order."""
        for section in self.sections:
            for block in section.blocks:
                if isinstance(block, Table):
                    yield block
                elif isinstance(block, Figure):
                    yield block.data
