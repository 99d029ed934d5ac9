"""Page without a server: HTML and plots for a state of the page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from musicrs_metric.base.genres import in_order
from musicrs_metric.errors import UserError, show
from musicrs_metric.paper.tables import OVERALL, Result, table1

from ..board.board import Board
from ..board.data import PoolDesign
from ..board.pairing import Pairing, modality_gains
from ..board.rows import SubmissionRow
from ..board.table_rows import RowQuery, fold_reported, table_rows
from ..board.threads import rankings_of, relevant_places
from . import compare, display_names, genres, plots, size_and_date, threads
from .about import about
from .address import COLUMNS, Address
from .dataset_threads import DatasetThreads
from .details import details
from .header import header
from .html import Html, join, tag
from .leaderboard import leaderboard
from .modality_gain import modality_gain

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


class Plotted(NamedTuple):
    """A tab with a plot.

    Attributes:
        above: HTML above the plot.
        figure: The plot; None without one.
        below: HTML below the plot.
    """

    above: Html
    figure: Figure | None
    below: Html


class Page:
    """Renders the tabs. Safe to use from many threads of execution.

    Args:
        board: The leaderboard.
        dataset: The threads of its dataset.
        versions: Name of each version of the data in URLs to its text, the current one first.
        status: Status of the rows of the default view; empty for all rows.
    """

    def __init__(
        self, board: Board, dataset: DatasetThreads, versions: Mapping[str, str] = {}, *, status: str = ""
    ) -> None:
        self.board, self.dataset, self.versions, self.status = board, dataset, versions, status
        self._pairing = Pairing(board)

    def design(self, address: Address) -> PoolDesign:
        """Return the pool design of an address; the first one if the name is empty or unknown."""
        names = self.board.data.names
        return self.board.data.design(address.pools if address.pools in names else None)

    def normalise_address(self, address: Address) -> Address:
        """Remove unknown keys and names from an address, so that all parts of the page show the same state.

        A comparison without a choice becomes that of the two best systems of one modality.
        """
        known = self.board.snapshot().by_key
        design = self.design(address)
        pair = [key if key in known else "" for key in address.pair]
        normalised = replace(
            address.with_status(self.status),
            data=address.data if address.data in self.versions else "",
            pools="" if design is self.board.data.designs[0] else design.name,
            genre=address.genre if address.genre in design.references.groups["genre"] else "",
            row=address.row if address.row in known else "",
            thread=address.thread if address.thread in design.references.position else "",
            systems=",".join(key for key in address.chosen_systems if key in known),
            columns=",".join(address.chosen_columns),
            compare=address.compare if address.compare == "," else ",".join(pair) if any(pair) else "",
        )
        if normalised.tab == "compare" and not normalised.compare:
            return replace(normalised, compare=compare.best_pair(self._best_first(normalised)))
        return normalised

    def gone(self, address: Address) -> list[str]:
        """List the keys and names of an address that the leaderboard does not have, each as "row 'abc'"."""
        design, rows = self.design(address), self.board.snapshot().by_key
        named: list[tuple[str, str, Container[str]]] = [
            ("data", address.data, (*self.versions, self.board.data.version)),
            ("pools", address.pools, self.board.data.names),
            ("genre", address.genre, design.references.groups["genre"]),
            ("thread", address.thread, design.references.position),
            *(("column", name, COLUMNS) for name in address.columns.split(",")),
            *(("row", key, rows) for key in (address.row, *address.pair, *address.chosen_systems)),
        ]
        gone = [(what, name) for what, name, known in named if name and name not in known]
        return [f"{what} {show(name)}" + self._why_gone(what, name) for what, name in gone]

    def header(self, address: Address, requested: Address | None = None, unknown: Sequence[str] = ()) -> Html:
        """Render the header.

        Args:
            address: State of the page.
            requested: State that the URL names; None if it is the same.
            unknown: Values of the URL that are no valid choice.
        """
        design = self.design(address)
        query = RowQuery(design=design.name, reported=False)
        rows = self.board.cached(("rows", query), lambda: table_rows(self.board, query))
        left_out = [*unknown, *(self.gone(requested) if requested else ())]
        is_other = bool(left_out) or requested not in (None, address)
        return header(rows, len(set(design.references.groups["genre"])), address, left_out, is_other=is_other)

    def leaderboard(self, address: Address) -> Html:
        """Render the first tab."""
        rendered = replace(address, metric="recall@20", compare="", thread="", systems="")

        def render() -> Html:
            design, pending = self.design(address), self.board.snapshot().pending
            rows, names = table_rows(self.board, address.query), self.board.data.names
            genres = in_order(design.genres)
            rows = fold_reported(rows, address.drawn) if address.reported == "yes" else rows
            tab = leaderboard(rows, names, genres, rendered, paper=design.is_paper, versions=self.versions)
            note = f"{display_names.plural(pending, 'submission')} will be scored within minutes."
            return join(tag("p", note, class_="warn", role="status") if pending else None, tab)

        return self.board.cached(("table", rendered), render)

    def details(self, address: Address) -> Html:
        """Render the panel next to the table; empty if no row is open."""
        row = self.board.row(address.row) if address.row else None
        return Html() if row is None else details(row, address)

    def compare(self, address: Address) -> Plotted:
        """Render the second tab, with a plot once two systems are chosen."""
        return self.board.cached(("compare", address), lambda: self._compare(address))

    def _compare(self, address: Address) -> Plotted:
        rows = self._best_first(address)
        chooser = compare.chooser(rows, address)
        alone = replace(address, compare="", row="")
        gained = self.board.cached(("gain", alone), lambda: self._gained(alone))
        first, second = address.pair
        if not (first and second):
            return Plotted(join(chooser, compare.nothing_chosen(rows, address)), None, gained)
        try:
            result = self._pairing(first, second)
        except UserError as error:
            return Plotted(join(chooser, tag("p", str(error), class_="warn", role="status")), None, gained)
        a, b = (self.board.snapshot().by_key[key] for key in address.pair)
        references = self.board.data.design(a.design).references
        known = [self.dataset.thread(thread_id) for thread_id in references.thread_ids]
        queries = ["" if thread is None else thread.query or "" for thread in known]
        figure = plots.scatter(a, b, address.metric, references.thread_ids, references.groups["genre"], queries)
        return Plotted(join(chooser, compare.comparison(a, b, result, known, address)), figure, gained)

    def genres(self, address: Address) -> Plotted:
        """Render the third tab."""
        return self.board.cached(("genres", address), lambda: self._genres(address))

    def _gained(self, address: Address) -> Html:
        return modality_gain(modality_gains(self.board.snapshot().of(self.design(address).name)), address)

    def _genres(self, address: Address) -> Plotted:
        design, rows = self.design(address), self._best_first(address)
        chance = {OVERALL: design.chance, **design.chance.by["genre"]}
        levels = {name: (scores.chance or {}).get(address.metric) for name, scores in chance.items()}
        reported = _by_system(table1()) if design.is_paper and address.reported != "no" else []
        return Plotted(
            genres.chooser(address, paper=design.is_paper),
            plots.by_genre(rows, levels, address.metric),
            genres.heat_map(rows, reported, levels, design.chance.verdict_rule, address),
        )

    def trends(self, address: Address) -> Plotted:
        """Render the tab of plots against size and date."""
        design, query = self.design(address), replace(address.query, sort=address.metric, genre=None, text="")
        selected = table_rows(self.board, replace(query, design=design.name, reported=False, open_weights=None))
        rows = [row.submission for row in selected if row.submission is not None]
        level = (design.chance.chance or {}).get(address.metric)
        return Plotted(size_and_date.chooser(rows, address), size_and_date.figure(rows, level, address), Html())

    def threads(self, address: Address) -> Html:
        """Render the fourth tab."""
        design = self.design(address)
        matches = threads.search_threads(self.dataset.threads, address)
        listing = join(threads.chooser(in_order(design.genres), address), threads.listing(matches, address))
        return tag("div", tag("div", listing, class_="side"), self._thread(design, address), class_="two")

    def for_owners(self, problem: str | None = None) -> Html:
        """Render the notice for leaderboard owners; empty without a reason.

        Args:
            problem: Reason in words why submissions are not stored or not committed.
        """
        files = self.board.snapshot().set_aside
        if not files and problem is None:
            return Html()
        items = [tag("li", tag("b", file.file), f": {file.reason}") for file in files]
        head = tag("summary", f"Only you see this: {display_names.plural(len(files), 'stored file')} set aside")
        return tag(
            "div",
            tag("p", f"Only you see this: submissions are not stored or not committed. {problem}")
            if problem is not None
            else None,
            tag("details", head, tag("ul", items)) if files else None,
            class_="warn",
        )

    def about(self, address: Address) -> Html:
        """Render the last tab."""
        return about(table_rows(self.board, RowQuery(design=self.design(address).name))[0], address)

    def _why_gone(self, what: str, name: str) -> str:
        return " (it was withdrawn)" if what == "row" and self.board.store.is_withdrawn(name) else ""

    def _thread(self, design: PoolDesign, address: Address) -> Html:
        thread = self.dataset.thread(address.thread)
        place = design.references.position.get(address.thread)
        if thread is None or place is None:
            return tag("p", "Choose a thread to play its clips and to see the rankings of the systems.", class_="lead")
        rows = self._best_first(address)
        keys = address.chosen_systems or [row.key for row in rows[: threads.SIDE_BY_SIDE - 1]]
        return threads.panel(
            thread,
            design.references.candidates[place],
            relevant_places(design, address.thread),
            self.dataset.clips(address.thread),
            rankings_of(self.board, address.thread, design.name, keys[: threads.SIDE_BY_SIDE]),
            rows,
        )

    def _best_first(self, address: Address) -> list[SubmissionRow]:
        query = RowQuery(design=self.design(address).name, sort=address.metric, reported=False)
        rows = self.board.cached(("rows", query), lambda: table_rows(self.board, query))
        return [row.submission for row in rows if row.submission is not None]


def _by_system(results: Sequence[Result]) -> list[list[Result]]:
    """Group the results of the paper by system and modality, in its order."""
    groups: dict[tuple[str, str], list[Result]] = defaultdict(list)
    for result in results:
        groups[result.system, result.modality].append(result)
    return list(groups.values())
