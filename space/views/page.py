"""The page without a server: from an address to the HTML and the plots of what it names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from musicrs_metric.base.genres import in_order
from musicrs_metric.errors import UserError, show
from musicrs_metric.paper.tables import OVERALL, Result, table1

from ..board.board import Board
from ..board.data import PoolDesign
from ..board.lru import StateCache
from ..board.pairing import Pairing, modality_gains
from ..board.rows import SubmissionRow
from ..board.table_rows import RowQuery, table_rows
from ..board.threads import rankings_of, relevant_places
from . import compare, display_names, genres, plots, threads
from .about import about
from .address import Address
from .conversations import Conversations
from .details import details
from .header import header
from .html import Html, join, tag
from .leaderboard import leaderboard
from .modality_gain import modality_gain

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_CACHED_TABLES = 128


class Plotted(NamedTuple):
    """A tab with a plot in it.

    Attributes:
        above: What stands above the plot.
        figure: The plot; None where there is none.
        below: What stands below it.
    """

    above: Html
    figure: Figure | None
    below: Html


class Page:
    """Renders what an address names. Safe to use from many threads.

    Args:
        board: The rows.
        conversations: The threads.
    """

    def __init__(self, board: Board, conversations: Conversations) -> None:
        self.board, self.conversations = board, conversations
        self._pairing = Pairing(board)
        self._tables: StateCache[Html] = StateCache(_CACHED_TABLES)

    def design(self, address: Address) -> PoolDesign:
        """The design of pools that an address names; the first one where it names none, or one that is gone."""
        names = self.board.data.names
        return self.board.data.design(address.pools if address.pools in names else None)

    def normalise_address(self, address: Address) -> Address:
        """Take out of an address what the board no longer has, so that every part of the page agrees on it.

        A comparison of which nothing is chosen becomes one of the two best systems of one modality.
        """
        known = self.board.snapshot().by_key
        design = self.design(address)
        pair = [key if key in known else "" for key in address.pair]
        settled = replace(
            address,
            pools="" if design is self.board.data.designs[0] else design.name,
            genre=address.genre if address.genre in design.references.groups["genre"] else "",
            row=address.row if address.row in known else "",
            thread=address.thread if address.thread in design.references.position else "",
            systems=",".join(key for key in address.chosen_systems if key in known),
            compare=address.compare if address.compare == "," else ",".join(pair) if any(pair) else "",
        )
        if settled.tab == "compare" and not settled.compare:
            return replace(settled, compare=compare.best_pair(self._best_first(settled)))
        return settled

    def gone(self, address: Address) -> list[str]:
        """What an address names and the board does not have; each as "row 'abc'"."""
        design, rows = self.design(address), self.board.snapshot().by_key
        named = [
            ("pools", address.pools, self.board.data.names),
            ("genre", address.genre, design.references.groups["genre"]),
            ("thread", address.thread, design.references.position),
            *(("row", key, rows) for key in (address.row, *address.pair, *address.chosen_systems)),
        ]
        return [f"{what} {show(name)}" for what, name, there in named if name and name not in there]

    def header(self, address: Address, asked: Address | None = None, unknown: Sequence[str] = ()) -> Html:
        """The head of the page.

        Args:
            address: What the page shows.
            asked: What the address bar names; None where that is the same.
            unknown: What of the address was no choice at all.
        """
        design = self.design(address)
        shown = table_rows(self.board, RowQuery(design=design.name, reported=False))
        left_out = [*unknown, *(self.gone(asked) if asked else ())]
        is_other = bool(left_out) or asked not in (None, address)
        return header(shown, len(set(design.references.groups["genre"])), address, left_out, is_other=is_other)

    def leaderboard(self, address: Address) -> Html:
        """Render the first tab."""
        snapshot, shown = self.board.snapshot(), replace(address, metric="recall@20", compare="", thread="", systems="")

        def render() -> Html:
            design = self.design(address)
            rows, names = table_rows(self.board, address.query), self.board.data.names
            return leaderboard(rows, names, in_order(design.genres), shown, paper=design.is_paper)

        # Ranks within a genre change some seconds after a submission, so their table is not cached.
        return render() if address.genre else self._tables.get(snapshot, shown, render)

    def details(self, address: Address) -> Html:
        """The panel beside the table; empty where no row is open."""
        row = self.board.row(address.row) if address.row else None
        return Html() if row is None else details(row, address)

    def compare(self, address: Address) -> Plotted:
        """The second tab; its plot is there once two systems are chosen."""
        rows = self._best_first(address)
        chooser = compare.chooser(rows, address)
        gained = modality_gain(modality_gains(self.board.snapshot().of(self.design(address).name)), address)
        first, second = address.pair
        if not (first and second):
            return Plotted(join(chooser, compare.nothing_chosen(rows, address)), None, gained)
        try:
            found = self._pairing(first, second)
        except UserError as error:
            return Plotted(join(chooser, tag("p", str(error), class_="warn", role="status")), None, gained)
        a, b = (self.board.snapshot().by_key[key] for key in address.pair)
        references = self.board.data.design(a.design).references
        known = [self.conversations.thread(thread_id) for thread_id in references.thread_ids]
        asked = ["" if thread is None else thread.query or "" for thread in known]
        figure = plots.scatter(a, b, address.metric, references.thread_ids, references.groups["genre"], asked)
        return Plotted(join(chooser, compare.comparison(a, b, found, known, address)), figure, gained)

    def genres(self, address: Address) -> Plotted:
        """The third tab."""
        design, rows = self.design(address), self._best_first(address)
        chance = {OVERALL: design.chance, **design.chance.by["genre"]}
        levels = {name: (scores.chance or {}).get(address.metric) for name, scores in chance.items()}
        told = _by_system(table1()) if design.is_paper and address.reported == "yes" else []
        return Plotted(
            genres.chooser(address, paper=design.is_paper),
            plots.by_genre(rows, levels, address.metric),
            genres.heat_map(rows, told, levels, address),
        )

    def threads(self, address: Address) -> Html:
        """The fourth tab."""
        design = self.design(address)
        found = threads.found(self.conversations.threads, address)
        listing = join(threads.chooser(in_order(design.genres), address), threads.listing(found, address))
        return tag("div", tag("div", listing, class_="side"), self._thread(design, address), class_="two")

    def for_owners(self) -> Html:
        """What owners alone see: why nothing is committed, and the files that the board does without; else empty."""
        files, problem = self.board.snapshot().set_aside, self.board.store.problem()
        if not files and problem is None:
            return Html()
        items = [tag("li", tag("b", file.file), f": {file.reason}") for file in files]
        head = tag("summary", f"Only you see this: {display_names.plural(len(files), 'stored file')} set aside")
        return tag(
            "div",
            tag("p", f"Only you see this: submissions are not committed. {problem}") if problem is not None else None,
            tag("details", head, tag("ul", items)) if files else None,
            class_="warn",
        )

    def about(self, address: Address) -> Html:
        """The last tab."""
        return about(table_rows(self.board, RowQuery(design=self.design(address).name))[0], address)

    def _thread(self, design: PoolDesign, address: Address) -> Html:
        thread = self.conversations.thread(address.thread)
        place = design.references.position.get(address.thread)
        if thread is None or place is None:
            return tag("p", "Choose a thread to hear it and to see what every system made of it.", class_="lead")
        rows = self._best_first(address)
        keys = address.chosen_systems or [row.key for row in rows[: threads.SIDE_BY_SIDE - 1]]
        return threads.panel(
            thread,
            design.references.candidates[place],
            relevant_places(design, address.thread),
            self.conversations.sounds(address.thread),
            rankings_of(self.board, address.thread, design.name, keys[: threads.SIDE_BY_SIDE]),
            rows,
        )

    def _best_first(self, address: Address) -> list[SubmissionRow]:
        query = RowQuery(design=self.design(address).name, sort=address.metric, reported=False)
        return [row.submission for row in table_rows(self.board, query) if row.submission is not None]


def _by_system(results: Sequence[Result]) -> list[list[Result]]:
    """The paper's figures by system and modality, in its order."""
    made: dict[tuple[str, str], list[Result]] = defaultdict(list)
    for result in results:
        made[result.system, result.modality].append(result)
    return list(made.values())
