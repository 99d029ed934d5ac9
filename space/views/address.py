"""State of the page as a query string. Every choice of the user is part of the URL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, get_args
from urllib.parse import urlencode

from musicrs_metric.compare import HEADLINE
from musicrs_metric.errors import is_unicode, show

from ..board.status import StatusFilter
from ..board.table_rows import CHOICES, RowQuery

TABS = ("leaderboard", "compare", "genres", "trends", "threads", "submit", "about")
SORTS = (*HEADLINE, "name", "received", "coverage")
COLUMNS = ("parameters", "licence", "model", "code", "training", "run")
_ASCENDING = ("name",)
_ALL = ""
_LONGEST = 1_000
_STATUS: Mapping[str, StatusFilter] = {choice: choice for choice in get_args(StatusFilter)}
ALL_ROWS = "all"
_WITH_STATUS = ("leaderboard", "trends")

_CHOICES: Mapping[str, tuple[str, ...]] = {
    "tab": TABS,
    **{name: (_ALL, *choices) for name, choices in CHOICES.items()},
    "weights": (_ALL, "open", "closed"),
    "status": (*_STATUS, ALL_ROWS),
    "sort": SORTS,
    "order": ("", "reversed"),
    "metric": HEADLINE,
    "reported": ("yes", "all", "no"),
    "axis": ("size", "date"),
}


@dataclass(frozen=True, kw_only=True)
class Address:
    """State of the page. An empty value is not chosen.

    Attributes:
        tab: Name of the tab.
        row: Key of the row whose details are open.
        compare: Keys of two rows, separated by a comma.
        thread: Id of the thread that is shown.
        systems: Keys of the rows whose rankings of that thread are shown, separated by commas.
        data: Version of the data; empty for the current one.
        pools: Pool design; empty for the first one.
        modality: Only systems of this modality.
        paradigm: Only systems of this paradigm.
        reads: Only systems that read this.
        weights: Only systems of "open" or "closed" weights.
        status: Only rows with code ("code") or reproduced rows ("reproduced"); "all" for all rows on a leaderboard with
            another default.
        genre: Scores and standings on this genre; in the list of threads, threads of it.
        find: Only systems, or threads, with this text.
        reported: "yes" to show the best result of each system that the paper reports, "all" for all results.
        sort: Column that sorts the systems.
        order: "reversed" for the worst first, or Z before A.
        metric: Measure of comparisons, heat map and plots.
        columns: Further columns of the table, separated by commas.
        page: Number of the page of a long table; empty for the first.
        axis: Horizontal axis of the plot of scores against "size" or "date".
    """

    tab: str = TABS[0]
    row: str = ""
    compare: str = ""
    thread: str = ""
    systems: str = ""
    data: str = ""
    pools: str = ""
    modality: str = _ALL
    paradigm: str = _ALL
    reads: str = _ALL
    weights: str = _ALL
    status: str = _ALL
    genre: str = _ALL
    find: str = ""
    reported: str = "yes"
    sort: str = SORTS[0]
    order: str = ""
    metric: str = HEADLINE[0]
    columns: str = ""
    axis: str = "size"
    page: str = ""

    @classmethod
    def read(cls, sent: Mapping[str, Any]) -> Address:
        """Read the values of a query string. Unknown names, invalid choices and values that are no text are ignored.

        An old link therefore always opens the page.

        Args:
            sent: Names and values.
        """
        known = {
            item.name: value[:_LONGEST]
            for item in fields(cls)
            if isinstance(value := sent.get(item.name), str)
            and value in _CHOICES.get(item.name, (value,))
            and is_unicode(value)
        }
        if "tab" not in known:
            known["tab"] = "compare" if known.get("compare") else "threads" if known.get("thread") else TABS[0]
        return cls(**known)

    @staticmethod
    def unknown(sent: Mapping[str, Any]) -> list[str]:
        """List the values that `read` ignores because they are no valid choice, each as "genre 'Jaz'"."""
        return [
            f"{name} {show(sent[name])}"
            for name, choices in _CHOICES.items()
            if isinstance(sent.get(name), str) and sent[name] not in choices
        ]

    def to(self, **changes: str) -> str:
        """Return the query string of this page with some changes. Standard values are left out.

        A change of the selection or of the order leads to the first page of the table.
        """
        if not changes.keys() <= {"page", "row"}:
            changes.setdefault("page", "")
        changed = replace(self, **changes)
        values = {name: getattr(changed, name) for name, value in STANDARD.items() if getattr(changed, name) != value}
        return "?" + urlencode(values or {"tab": TABS[0]}, safe=",@")

    def with_status(self, default: str) -> Address:
        """Return this state with the default of the leaderboard in place of an absent status.

        Args:
            default: Status of the default view; empty for all rows.
        """
        if self.status == ALL_ROWS and not default:
            return replace(self, status="")
        is_absent = self.status == "" and self.tab in _WITH_STATUS
        return replace(self, status=default) if is_absent else self

    @property
    def page_number(self) -> int:
        """The number of `page`, from 1; 1 if it is no number."""
        digits = self.page if self.page.isascii() and self.page.isdecimal() else "1"
        return max(1, int(digits[:6]))

    @property
    def pair(self) -> tuple[str, str]:
        """The two keys of `compare`."""
        first, _, second = self.compare.partition(",")
        return first, second

    @property
    def chosen_systems(self) -> list[str]:
        """The keys of `systems`."""
        return [key for key in self.systems.split(",") if key]

    @property
    def chosen_columns(self) -> list[str]:
        """The names of `columns` that exist, in the order of the table."""
        return [name for name in COLUMNS if name in self.columns.split(",")]

    @property
    def drawn(self) -> str:
        """The measure that the table draws: the one that sorts it, or the first."""
        return self.sort if self.sort in HEADLINE else HEADLINE[0]

    @property
    def ascending(self) -> bool:
        """True if the table starts with the smallest value."""
        return (self.sort in _ASCENDING) != (self.order == "reversed")

    @property
    def query(self) -> RowQuery:
        """Selection and order of the rows that are shown."""
        return RowQuery(
            version=self.data,
            design=self.pools or None,
            modality=_one(self.modality),
            paradigm=_one(self.paradigm),
            reads=_one(self.reads),
            genre=self.genre or None,
            open_weights={"open": True, "closed": False}.get(self.weights),
            status=_STATUS.get(self.status, ""),
            reported=self.reported != "no",
            text=self.find,
            sort=self.sort,
            ascending=self.ascending,
        )


def _one(choice: str) -> tuple[Any, ...]:
    return (choice,) if choice else ()


STANDARD: Mapping[str, str] = {item.name: item.default for item in fields(Address) if isinstance(item.default, str)}
