"""What the table shows: chance, the paper's rows and the submissions as lines of one form, chosen and sorted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from musicrs_metric.compare.results import Standing
from musicrs_metric.errors import UserError, show
from musicrs_metric.measures import DEFAULT_K, measure_names
from musicrs_metric.paper.tables import OVERALL, Result, table1
from musicrs_metric.runs.predictions import Outcome
from musicrs_metric.runs.run_card import Modality, Paradigm, Reads
from musicrs_metric.scoring import Scores

from .board import Board
from .data import PoolDesign
from .rows import SubmissionRow

Kind = Literal["chance", "reported", "submitted"]
Pair = tuple[float, float]

MEASURES = tuple(measure_names(DEFAULT_K))
CHOICES: Mapping[str, tuple[str, ...]] = {
    "modality": get_args(Modality),
    "paradigm": get_args(Paradigm),
    "reads": get_args(Reads),
}
"""Field with a fixed set of values, in queries and in submissions, to these values."""

SORTS = ("name", "modality", "paradigm", "reads", "received", "coverage", "answered", *MEASURES)
# The two systems of the paper that look beyond their own thread; all others are asked about one thread at a time.
_READS_OF_PAPER: Mapping[str, Reads] = {"Popularity": "pools", "Neighborhood": "labels"}


@dataclass(frozen=True, kw_only=True)
class RowQuery:
    """Which lines are wanted, and in what order. An empty choice takes everything.

    Attributes:
        design: Name of the pools; None for the first.
        modality: Modalities.
        paradigm: Paradigms.
        reads: What systems read.
        genre: Scores and standings on the threads of this genre; None for all threads.
        open_weights: Only systems whose weights are open (True) or are not (False); those that do not say are neither.
        reported: Whether the paper's rows are among them.
        text: Only lines whose name holds it, upper and lower case alike.
        sort: One of `SORTS`.
        ascending: The least first, or A before Z; what has no value comes last either way.
    """

    design: str | None = None
    modality: tuple[Modality, ...] = ()
    paradigm: tuple[Paradigm, ...] = ()
    reads: tuple[Reads, ...] = ()
    genre: str | None = None
    open_weights: bool | None = None
    reported: bool = True
    text: str = ""
    sort: str = "recall@20"
    ascending: bool = False


@dataclass(frozen=True, kw_only=True)
class TableRow:
    """A line of the table. What nobody knows is None.

    Attributes:
        kind: "chance" for the exact expectation of a random ranking, "reported" for figures of the paper that cannot
            be recomputed, "submitted" for what was computed here.
        label: Name; of submissions no two alike.
        modality: What of the thread the system is given.
        paradigm: How it ranks.
        reads: What it looks at beyond its own thread.
        open_weights: Whether anyone can download its weights.
        values: Measure to mean in [0, 1].
        interval: Measure to its 95 % interval.
        standings: Metric to rank, group and verdict; rank and group count where `is_ranked` alone.
        n: Threads averaged.
        row: Everything else on a submission.
    """

    kind: Kind
    label: str
    modality: Modality | None = None
    paradigm: Paradigm | None = None
    reads: Reads | None = None
    open_weights: bool | None = None
    values: Mapping[str, float | None] = field(default_factory=dict)
    interval: Mapping[str, Pair] = field(default_factory=dict)
    standings: Mapping[str, Standing] = field(default_factory=dict)
    n: int | None = None
    submission: SubmissionRow | None = None

    @property
    def key(self) -> str | None:
        """A submission's key."""
        return None if self.submission is None else self.submission.key

    @property
    def is_ranked(self) -> bool:
        """Whether it has a rank and a group: a submission that is not the only one to read what it reads."""
        return self.submission is not None and self.submission.is_ranked and bool(self.standings)

    @property
    def audio_coverage(self) -> float | None:
        """Share of the threads for which the system had audio, as its card says."""
        stated = None if self.submission is None else self.submission.entry.card.audio_coverage
        return None if stated is None else stated.get("threads")

    @property
    def outcomes(self) -> Mapping[Outcome | None, float]:
        """Outcome to its share of the predictions; None for those that state none."""
        counts = {} if self.submission is None else self.submission.judged.outcomes
        total = sum(counts.values())
        return {outcome: count / total for outcome, count in counts.items()}

    @property
    def answered(self) -> float | None:
        """Share of the places that the system filled itself, the rest having been appended to its answer."""
        return None if self.submission is None else self.submission.judged.answered


def table_rows(board: Board, query: RowQuery | None = None) -> list[TableRow]:
    """The lines of the table.

    Args:
        board: The board.
        query: What is wanted; None for everything on the first design of pools.

    Returns:
        Chance first, then the others as the query sorts them.

    Raises:
        UserError: No such design, genre or order, or a filter that no line can have.
    """
    query = query or RowQuery()
    _check(query)
    design = board.data.design(query.design)
    standings = board.standings(design.name, query.genre)
    rows = board.snapshot().of(design.name)
    found = [table_row(row, query.genre, standings.get(row.key, {})) for row in rows]
    if query.reported and design.is_paper:
        found += _reported(table1(), query.genre or OVERALL)
    kept = [row for row in found if _wanted(row, query)]
    return [_chance(design, query.genre), *_sorted(kept, query)]


def _check(query: RowQuery) -> None:
    for name, choices in CHOICES.items():
        for choice in getattr(query, name):
            if choice not in choices:
                raise UserError(f"{name} {show(choice)}: expected one of {', '.join(choices)}")
    if query.sort not in SORTS:
        raise UserError(f"sort by {show(query.sort)}: expected one of {', '.join(SORTS)}")


def _wanted(row: TableRow, query: RowQuery) -> bool:
    return (
        (not query.modality or row.modality in query.modality)
        and (not query.paradigm or row.paradigm in query.paradigm)
        and (not query.reads or row.reads in query.reads)
        and (query.open_weights is None or row.open_weights is query.open_weights)
        and query.text.strip().casefold() in row.label.casefold()
    )


def _chance(design: PoolDesign, genre: str | None) -> TableRow:
    scores = _part(design.chance, genre)
    return TableRow(kind="chance", label="chance", values=scores.chance or {}, n=scores.n)


def _part(scores: Scores, genre: str | None) -> Scores:
    return scores if genre is None else scores.by["genre"][genre]


def table_row(
    row: SubmissionRow, genre: str | None = None, standings: Mapping[str, Standing] | None = None
) -> TableRow:
    """The line of one row.

    Args:
        row: The row.
        genre: Scores on the threads of this genre; None for all threads.
        standings: Its standings there; None for those on all threads.
    """
    card, scores = row.entry.card, _part(row.scores, genre)
    return TableRow(
        kind="submitted",
        label=row.label,
        modality=card.modality,
        paradigm=card.paradigm,
        reads=card.reads,
        open_weights=card.open_weights,
        values=scores.values,
        interval=scores.interval or {},
        standings=row.standings if standings is None else standings,
        n=scores.n,
        submission=row,
    )


def _reported(results: Iterable[Result], genre: str) -> Iterator[TableRow]:
    modalities = {modality: modality for modality in get_args(Modality)}
    paradigms = {paradigm: paradigm for paradigm in get_args(Paradigm)}
    for result in results:
        if result.genre == genre:
            yield TableRow(
                kind="reported",
                label=result.system,
                modality=modalities[result.modality],
                paradigm=paradigms[result.paradigm],
                reads=_READS_OF_PAPER.get(result.system, "thread"),
                values=dict(result.values),
            )


def _sorted(found: list[TableRow], query: RowQuery) -> list[TableRow]:
    value: Callable[[TableRow], Any] = _KEYS.get(query.sort) or (lambda row: row.values.get(query.sort))
    known = sorted((row for row in found if value(row) is not None), key=value, reverse=not query.ascending)
    return known + [row for row in found if value(row) is None]


_KEYS: Mapping[str, Callable[[TableRow], Any]] = {
    "name": lambda row: row.label.casefold(),
    "modality": lambda row: row.modality,
    "paradigm": lambda row: row.paradigm,
    "reads": lambda row: row.reads,
    "received": lambda row: None if row.submission is None else row.submission.entry.received_at,
    "coverage": lambda row: row.audio_coverage,
    "answered": lambda row: row.answered,
}
