"""The address of what the page shows: everything that can be chosen on it stands in its query string."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, get_args
from urllib.parse import urlencode

from musicrs_metric.compare import HEADLINE
from musicrs_metric.errors import is_unicode, show
from musicrs_metric.runs.run_card import Modality, Paradigm, Reads

from ..board.table_rows import RowQuery

TABS = ("leaderboard", "compare", "genres", "threads", "submit", "about")
SORTS = (*HEADLINE, "name", "received", "coverage")
_ASCENDING = ("name",)
_ALL = ""
_LONGEST = 1_000

_CHOICES: Mapping[str, tuple[str, ...]] = {
    "tab": TABS,
    "modality": (_ALL, *get_args(Modality)),
    "paradigm": (_ALL, *get_args(Paradigm)),
    "reads": (_ALL, *get_args(Reads)),
    "weights": (_ALL, "open", "closed"),
    "sort": SORTS,
    "order": ("", "reversed"),
    "metric": HEADLINE,
    "reported": ("yes", "no"),
}


@dataclass(frozen=True, kw_only=True)
class Address:
    """What the page is asked to show. What is empty is not chosen.

    Attributes:
        tab: Which tab.
        row: Key of the row whose details are open.
        compare: Keys of two rows, with a comma between.
        thread: Id of the thread that is shown.
        systems: Keys of the rows whose rankings of that thread are shown, with commas between.
        pools: Pool design; empty for the first one.
        modality: Only systems of that modality. So are the next three.
        paradigm: Only systems of that paradigm.
        reads: Only systems that read that.
        weights: Only systems of "open" or "closed" weights.
        genre: Scores and standings on that genre; in the list of threads, threads of it.
        find: Only systems, or threads, in which that text stands.
        reported: Whether the rows that the paper reports are shown.
        sort: What systems are sorted by.
        order: "reversed" for the worst first, or Z before A.
        metric: The measure of comparisons, heat map and plots.
    """

    tab: str = TABS[0]
    row: str = ""
    compare: str = ""
    thread: str = ""
    systems: str = ""
    pools: str = ""
    modality: str = _ALL
    paradigm: str = _ALL
    reads: str = _ALL
    weights: str = _ALL
    genre: str = _ALL
    find: str = ""
    reported: str = "yes"
    sort: str = SORTS[0]
    order: str = ""
    metric: str = HEADLINE[0]

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Address:
        """Read the parts of a query string; what is unknown, no text, or none of the choices is as if not given.

        A link that somebody kept leads to the page, whatever became of what it names.

        Args:
            given: Names and values.
        """
        known = {
            item.name: value[:_LONGEST]
            for item in fields(cls)
            if isinstance(value := given.get(item.name), str)
            and value in _CHOICES.get(item.name, (value,))
            and is_unicode(value)
        }
        if "tab" not in known:
            known["tab"] = "compare" if known.get("compare") else "threads" if known.get("thread") else TABS[0]
        return cls(**known)

    @staticmethod
    def unknown(given: Mapping[str, Any]) -> list[str]:
        """What `read` takes out of a query string, because it is none of the choices; each as "genre 'Jaz'"."""
        return [
            f"{name} {show(given[name])}"
            for name, choices in _CHOICES.items()
            if isinstance(given.get(name), str) and given[name] not in choices
        ]

    def to(self, **changes: str) -> str:
        """The query string of this page with something changed; what is as it always is stays out of it."""
        changed = replace(self, **changes)
        said = {name: getattr(changed, name) for name, value in STANDARD.items() if getattr(changed, name) != value}
        return "?" + urlencode(said or {"tab": TABS[0]}, safe=",@")

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
    def drawn(self) -> str:
        """The measure of the table that is drawn: the one it is sorted by, or the first."""
        return self.sort if self.sort in HEADLINE else HEADLINE[0]

    @property
    def ascending(self) -> bool:
        """Whether the table starts with the least."""
        return (self.sort in _ASCENDING) != (self.order == "reversed")

    @property
    def query(self) -> RowQuery:
        """Which lines of the board are shown."""
        return RowQuery(
            design=self.pools or None,
            modality=_one(self.modality),
            paradigm=_one(self.paradigm),
            reads=_one(self.reads),
            genre=self.genre or None,
            open_weights={"open": True, "closed": False}.get(self.weights),
            reported=self.reported == "yes",
            text=self.find,
            sort=self.sort,
            ascending=self.ascending,
        )


def _one(choice: str) -> tuple[Any, ...]:
    return (choice,) if choice else ()


STANDARD: Mapping[str, str] = {item.name: item.default for item in fields(Address) if isinstance(item.default, str)}
