"""Rows of the table: chance, reported results and submissions in one form, filtered and sorted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from musicrs_metric.chance import VERDICT_RULE
from musicrs_metric.compare.results import Standing
from musicrs_metric.errors import UserError, show
from musicrs_metric.measures import DEFAULT_K, measure_names
from musicrs_metric.paper.tables import OVERALL, Result, table1
from musicrs_metric.runs.predictions import Outcome
from musicrs_metric.runs.run_card import Modality, Paradigm, Reads, RunCard
from musicrs_metric.scoring import Scores

from .board import Board
from .data import PoolDesign
from .rows import SubmissionRow
from .status import Status, StatusFilter, is_at_least, status_of

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
_MOST_PARAMETERS = 1e15
# The two systems of the paper that read more than their own thread. All others rank one thread at a time.
_READS_OF_PAPER: Mapping[str, Reads] = {"Popularity": "pools", "Neighborhood": "labels"}


@dataclass(frozen=True, kw_only=True)
class RowQuery:
    """Selection and order of the rows. An empty choice selects all.

    Attributes:
        version: Version of the data; empty for the current one. The caller chooses the board of that version.
        design: Name of the pool design; None for the first.
        modality: Modalities.
        paradigm: Paradigms.
        reads: Values of `reads`.
        genre: Scores and standings on the threads of this genre; None for all threads.
        open_weights: Only systems with open weights (True) or closed weights (False). Unknown weights match neither.
        status: "code" for rows with a code link and reproduced rows, "reproduced" for these only; empty for all. The
            results that the paper reports have no status.
        reported: True to include the results that the paper reports.
        text: Only rows whose name contains it, in upper or lower case.
        sort: One of `SORTS`.
        ascending: True for the smallest value first, or A before Z. Rows without a value come last either way.
    """

    version: str = ""
    design: str | None = None
    modality: tuple[Modality, ...] = ()
    paradigm: tuple[Paradigm, ...] = ()
    reads: tuple[Reads, ...] = ()
    genre: str | None = None
    open_weights: bool | None = None
    status: StatusFilter = ""
    reported: bool = True
    text: str = ""
    sort: str = "recall@20"
    ascending: bool = False


@dataclass(frozen=True, kw_only=True)
class TableRow:
    """A row of the table. Unknown values are None.

    Attributes:
        kind: "chance" for the exact expectation of a random order, "reported" for results of the paper that cannot be
            recomputed, "submitted" for scores that were computed here.
        label: Name. No two submissions have the same.
        modality: The part of a thread that the system takes.
        paradigm: The way in which it ranks.
        reads: The data that it uses beyond its own thread.
        open_weights: True if anyone can download the weights.
        values: Measure to mean in [0, 1].
        interval: Measure to its 95 % interval.
        standings: Measure to rank, rank group and verdict. Rank and group count only if `is_ranked`.
        n: Number of threads in the mean, or of dialogues if the threads are turns.
        unit: What `n` counts, "thread" or "dialogue".
        verdict_rule: Rule of the verdicts, in words.
        submission: All other values of a submission.
        folded: Number of further results of the same reported system, which this row stands for.
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
    unit: str = "thread"
    verdict_rule: str = VERDICT_RULE
    submission: SubmissionRow | None = None
    folded: int = 0

    @property
    def key(self) -> str | None:
        """Key of a submission."""
        return None if self.submission is None else self.submission.key

    @property
    def status(self) -> Status | None:
        """Status of a submission."""
        return None if self.submission is None else status_of(self.submission.entry)

    @property
    def is_ranked(self) -> bool:
        """True if the row has a rank: a submission with at least one peer that reads the same."""
        return self.submission is not None and self.submission.is_ranked and bool(self.standings)

    @property
    def audio_coverage(self) -> float | None:
        """Share of the threads for which the system had audio, from its run card."""
        coverage = None if self.submission is None else self.submission.entry.card.audio_coverage
        return None if coverage is None else coverage.get("threads")

    @property
    def outcomes(self) -> Mapping[Outcome | None, float]:
        """Outcome to its share of the predictions, with None for predictions that state no outcome."""
        counts = {} if self.submission is None else self.submission.judged.outcomes
        total = sum(counts.values())
        return {outcome: count / total for outcome, count in counts.items()}

    @property
    def answered(self) -> float | None:
        """Mean share of each ranking that the system gave itself. The rest is the filled part."""
        return None if self.submission is None else self.submission.judged.answered


def parameters_of(card: RunCard) -> int | None:
    """Return the number of parameters that a run card states; None if it states no positive number."""
    return parameter_count(card.extra.get("parameters"))


def parameter_count(value: object) -> int | None:
    """Return a number of parameters, 1 to 1e15; None for any other value."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1 <= value <= _MOST_PARAMETERS:
        return None
    return round(value)


def table_rows(board: Board, query: RowQuery | None = None) -> list[TableRow]:
    """Return the rows of the table.

    Args:
        board: The leaderboard.
        query: Selection and order; None for all rows on the first pool design.

    Returns:
        Chance first, then the others in the order of the query.

    Raises:
        UserError: There is no such pool design, genre or order, or a filter has an unknown value.
    """
    query = query or RowQuery()
    _check(query)
    design = board.data.design(query.design)
    standings = board.standings(design.name, query.genre)
    rows = board.snapshot().of(design.name)
    rows_of_table = [table_row(row, query.genre, standings.get(row.key, {})) for row in rows]
    if query.reported and design.is_paper:
        rows_of_table += _reported(table1(), query.genre or OVERALL)
    selected = [row for row in rows_of_table if _is_selected(row, query)]
    return [_chance(design, query.genre), *_sorted(selected, query)]


def fold_reported(rows: Sequence[TableRow], measure: str) -> list[TableRow]:
    """Return the rows with one row per reported system: its best result on a measure, at the place of that result."""
    of: dict[str, list[TableRow]] = defaultdict(list)
    for row in rows:
        if row.kind == "reported":
            of[row.label].append(row)
    best = {label: max(results, key=lambda row: row.values.get(measure) or 0.0) for label, results in of.items()}
    return [
        replace(row, folded=len(of[row.label]) - 1) if row.kind == "reported" else row
        for row in rows
        if row.kind != "reported" or row is best[row.label]
    ]


def _check(query: RowQuery) -> None:
    for name, choices in CHOICES.items():
        for choice in getattr(query, name):
            if choice not in choices:
                raise UserError(f"{name} {show(choice)}: expected one of {', '.join(choices)}")
    if query.status not in get_args(StatusFilter):
        raise UserError(f"status {show(query.status)}: expected code or reproduced")
    if query.sort not in SORTS:
        raise UserError(f"sort by {show(query.sort)}: expected one of {', '.join(SORTS)}")


def _is_selected(row: TableRow, query: RowQuery) -> bool:
    return (
        (not query.modality or row.modality in query.modality)
        and (not query.paradigm or row.paradigm in query.paradigm)
        and (not query.reads or row.reads in query.reads)
        and (query.open_weights is None or row.open_weights is query.open_weights)
        and is_at_least(row.status, query.status)
        and query.text.strip().casefold() in row.label.casefold()
    )


def _chance(design: PoolDesign, genre: str | None) -> TableRow:
    scores = _part(design.chance, genre)
    return TableRow(kind="chance", label="chance", values=scores.chance or {}, **_counted(scores))


def _counted(scores: Scores) -> dict[str, Any]:
    return {"n": scores.n, "unit": scores.unit, "verdict_rule": scores.verdict_rule}


def _part(scores: Scores, genre: str | None) -> Scores:
    return scores if genre is None else scores.by["genre"][genre]


def table_row(
    row: SubmissionRow, genre: str | None = None, standings: Mapping[str, Standing] | None = None
) -> TableRow:
    """Return the table row of a submission.

    Args:
        row: The submission.
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
        submission=row,
        **_counted(scores),
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


def _sorted(rows: list[TableRow], query: RowQuery) -> list[TableRow]:
    value: Callable[[TableRow], Any] = _KEYS.get(query.sort) or (lambda row: row.values.get(query.sort))
    known = sorted((row for row in rows if value(row) is not None), key=value, reverse=not query.ascending)
    return known + [row for row in rows if value(row) is None]


_KEYS: Mapping[str, Callable[[TableRow], Any]] = {
    "name": lambda row: row.label.casefold(),
    "modality": lambda row: row.modality,
    "paradigm": lambda row: row.paradigm,
    "reads": lambda row: row.reads,
    "received": lambda row: None if row.submission is None else row.submission.entry.received_at,
    "coverage": lambda row: row.audio_coverage,
    "answered": lambda row: row.answered,
}
