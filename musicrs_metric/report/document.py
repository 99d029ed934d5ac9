"""What a report says, block by block. Every text is final here: renderings print it and work out no number."""

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
        name: For the legend; empty where the panel has one series.
        values: One per label; None where undefined.
        texts: What stands at each bar; empty for none.
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
        title: Above it.
        labels: What the values belong to.
        groups: One per label: decides colour and hatch or marker; empty for none.
        series: What is drawn.
        ticks: Where the value axis has its ticks.
        tick_texts: What stands there.
        line: Where a line across is drawn; None for none.
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
        caption: Below it.
        style: "bars" or "dots".
        panels: In reading order.
        columns: Panels in a row.
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
        label: What it is, with its place and length.
        key: Name under which the HTML page finds the audio; None where the page leaves it out.
        note: Why it was left out; empty otherwise.
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
    """What one system ranked first in one thread."""

    system: str
    summary: str
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Link:
    """A place on the web that the asker named; nothing is loaded from it."""

    text: str
    url: str


@dataclass(frozen=True, slots=True)
class Case:
    """One thread and what the systems made of it."""

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
    """A part of the report; `key` is its anchor."""

    key: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """The whole report as shown."""

    title: str
    lead: tuple[str, ...]
    sections: tuple[Section, ...]

    def figures(self) -> Iterable[Figure]:
        """Every figure, in order."""
        for section in self.sections:
            for block in section.blocks:
                if isinstance(block, Figure):
                    yield block
