"""Figure 3: genres and entities of the dataset, and the structure of its threads."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from ..base import numbers
from ..base.genres import macros_in_order
from ..base.tables import Column, Table, row
from .document import Figure, Panel, Section, Series
from .report_data import ReportData
from .threads import Row

_MOST_BINS = 12


@dataclass(frozen=True, slots=True)
class Quantity:
    """A count per thread.

    Attributes:
        name: Name in the table.
        title: Title of the panel.
        values: One per thread.
    """

    name: str
    title: str
    values: Sequence[int]


def coverage_section(data: ReportData) -> Section:
    """Build the section."""
    genre_of, macros_of_threads = data.references.groups["genre"], data.references.groups["macro"]
    macro_of = dict(zip(genre_of, macros_of_threads, strict=True))
    order = macros_in_order(macros_of_threads)
    genres = sorted(data.genres, key=lambda genre: (order.index(macro_of[genre]), genre))
    members = {genre: [i for i, found in enumerate(genre_of) if found == genre] for genre in genres}
    macros = tuple(numbers.MACROS.get(macro_of[genre], macro_of[genre]) for genre in genres)
    quantities = _quantities(data)
    threads = [len(members[genre]) for genre in genres]
    relevant = [_distinct(data.references.ground_truth, members[genre]) for genre in genres]
    pooled = [_distinct(data.references.candidates, members[genre]) for genre in genres]
    panels = (
        _bars("Threads", genres, threads, macros),
        _bars("Distinct ground-truth entities", genres, relevant, macros),
        _bars("Distinct candidates", genres, pooled, macros),
        *(_histogram(quantity) for quantity in quantities),
    )
    figure = Figure(
        name="figure-3",
        caption="Genre and entity coverage, and the structure of the dialogues. Bars count threads unless the title "
        "names something else; entities are counted as distinct strings.",
        style="bars",
        panels=panels,
        columns=3,
        legend=tuple(dict.fromkeys(macros)),
        data=_table(data, genres, macros, members, (threads, relevant, pooled), quantities),
    )
    return Section("figure-3", "Figure 3: coverage of the dataset", (figure,))


def _quantities(data: ReportData) -> list[Quantity]:
    references, rows = data.references, data.rows
    found = [
        Quantity("ground truth", "Ground-truth items", [len(items) for items in references.ground_truth]),
        Quantity("pool", "Candidates in the pool", [len(pool) for pool in references.candidates]),
    ]
    counters: dict[str, tuple[str, str, Callable[[Row], int]]] = {
        "comments": ("comments", "Comments", lambda thread: len(thread["comments"] or ())),
        "all_entities": ("entities", "Entities in the comments", lambda thread: len(set(thread["all_entities"] or ()))),
        "query": ("query words", "Words of the query", lambda thread: len((thread["query"] or "").split())),
        "links": ("links", "Links to audio", lambda thread: len(thread["links"] or ())),
    }
    for column, (name, title, counter) in counters.items():
        if rows and column in rows[0]:
            found.append(Quantity(name, title, [counter(thread) for thread in rows]))
    return found


def _bars(title: str, labels: Sequence[str], values: Sequence[int], groups: Sequence[str] = ()) -> Panel:
    texts = tuple(numbers.thousands(value) for value in values)
    return Panel(title, tuple(labels), (Series("", tuple(map(float, values)), texts),), (), (), tuple(groups))


def _histogram(quantity: Quantity) -> Panel:
    labels, counts = bins(quantity.values)
    return _bars(f"{quantity.title} (median {numbers.quantity(median(quantity.values))})", labels, counts)


def bins(values: Sequence[int]) -> tuple[list[str], list[int]]:
    """Count whole numbers in at most twelve bins of equal, round width. The last bin also holds the few largest ones.

    Args:
        values: At least one.

    Returns:
        Labels of the bins ("5–9", "5" for a width of 1, "60+" for an open end), and the number of values in each.
    """
    low, high, most = min(values), sorted(values)[math.ceil(len(values) * 0.95) - 1], max(values)
    width = next(
        factor * 10**power
        for power in range(20)
        for factor in (1, 2, 5)
        if high // (factor * 10**power) - low // (factor * 10**power) < _MOST_BINS
    )
    starts = range(low // width * width, high + 1, width)
    counts = [sum(start <= value < start + width for value in values) for start in starts]
    labels = [_bin_label(start, min(start + width - 1, most)) for start in starts]
    beyond = len(values) - sum(counts)
    if beyond:
        labels[-1], counts[-1] = f"{numbers.thousands(starts[-1])}+", counts[-1] + beyond
    return labels, counts


def _bin_label(first: int, last: int) -> str:
    return numbers.thousands(first) if first == last else f"{numbers.thousands(first)}–{numbers.thousands(last)}"


def _table(
    data: ReportData,
    genres: Sequence[str],
    macros: Sequence[str],
    members: dict[str, list[int]],
    counts: tuple[Sequence[int], Sequence[int], Sequence[int]],
    quantities: Sequence[Quantity],
) -> Table:
    n = len(data.references)
    everyone = list(range(n))
    lines = [
        (genre, macro, members[genre], relevant, pooled)
        for genre, macro, relevant, pooled in zip(genres, macros, counts[1], counts[2], strict=True)
    ]
    references = data.references
    total = (_distinct(references.ground_truth, everyone), _distinct(references.candidates, everyone))
    lines.append(("all", numbers.UNDEFINED, everyone, *total))
    return Table(
        "Coverage by genre; the last columns are medians over its threads.",
        (
            Column("Genre", "left"), Column("Macro-genre", "left"), Column("Threads"), Column("Share, %"),
            Column("Distinct ground truth"), Column("Distinct candidates"),
            *(Column(quantity.name) for quantity in quantities),
        ),
        tuple(
            row(
                genre, macro, numbers.thousands(len(chosen)), f"{100 * len(chosen) / n:.1f}",
                numbers.thousands(relevant), numbers.thousands(pooled),
                *(numbers.quantity(median(quantity.values[i] for i in chosen)) for quantity in quantities),
            )
            for genre, macro, chosen, relevant, pooled in lines
        ),
    )  # fmt: skip


def _distinct(lists: Sequence[Sequence[str]], chosen: Sequence[int]) -> int:
    return len({text for i in chosen for text in lists[i]})
