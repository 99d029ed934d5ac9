"""RQ3: difficulty of the genres. Scores by genre, macro-genre and subreddit, each with its own chance level."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..base import numbers
from ..base.tables import Cell, Column, Part, Row, Table, cell
from ..catalogue.compare import group_labels
from ..chance import Verdict
from ..compare.against_chance import chance_tests
from ..compare.assemble import SMALL_GROUP
from ..intervals import SMALLEST_SAMPLE, mean_intervals
from ..paper.findings import peaks
from ..paper.tables import METRICS, OVERALL, Result, published_chance, table1
from .document import Block, Section, Text
from .report_data import ReportData
from .rq2 import average
from .table1 import SIGNS, note_signs

_TITLES = {"genre": "Genre", "macro": "Macro-genre", "subreddit": "Subreddit"}


@dataclass(frozen=True, slots=True)
class Lift:
    """The mean of all systems on one measure in one group of threads.

    Attributes:
        mean: In [0, 1].
        chance: Chance level of the same threads.
        interval: Interval of mean minus chance; None if the threads are too few.
        verdict: Verdict on the threads for which all systems have a prediction; None without such threads.
    """

    mean: float
    chance: float
    interval: tuple[float, float] | None
    verdict: Verdict | None

    @property
    def sign(self) -> str:
        """Return the verdict as a sign."""
        return SIGNS[self.verdict]


def genre_section(data: ReportData) -> Section:
    """Build the section."""
    return Section("rq3", "RQ3: which genres are hard?", tuple(_blocks(data)))


def _blocks(data: ReportData) -> Iterator[Block]:
    lifts = {grouping: _lifts(data, grouping) for grouping in _TITLES}
    if all(len(groups) < 2 for groups in lifts.values()):
        yield Text("All threads are in one genre and one subreddit, so there is nothing to compare.")
    yield from _sentences(lifts["genre"])
    for grouping in _TITLES:
        if len(lifts[grouping]) > 1:
            yield _table(data, grouping, lifts[grouping])
    if data.reported:
        yield _reported_peaks()


def _lifts(data: ReportData, grouping: str) -> dict[str, dict[str, Lift]]:
    """Return group to measure to lift, groups in the order of the tables."""
    table = average([run.system.table for run in data.runs])
    labels = np.asarray(group_labels(data.references, [grouping])[grouping], dtype=object)
    order: Sequence[str] = data.genres if grouping == "genre" else sorted(set(labels.tolist()))
    chance = table.chance or {}
    found: dict[str, dict[str, Lift]] = {}
    for group in order:
        chosen = labels == group
        values = np.stack([table.values[metric][chosen] for metric in METRICS], axis=1)
        levels = np.stack([chance[metric][chosen] for metric in METRICS], axis=1)
        bounds = mean_intervals(
            values - levels,
            resamples=data.resamples,
            seed=data.seed,
            bounds=(-float(levels.max()), 1.0 - float(levels.min())),
        )
        tests = chance_tests(table, METRICS, chosen & ~table.hits.missing)
        found[group] = {
            metric: Lift(
                float(values[:, j].mean()),
                float(levels[:, j].mean()),
                None if bounds is None else (float(bounds.low[j]), float(bounds.high[j])),
                test and test.verdict,
            )
            for j, (metric, test) in enumerate(zip(METRICS, tests, strict=True))
        }
    return found


def _sentences(lifts: dict[str, dict[str, Lift]]) -> Iterator[Text]:
    metric = METRICS[0]
    if len(lifts) < 2:
        return
    raw = {genre: of[metric].mean for genre, of in lifts.items()}
    level = {genre: of[metric].chance for genre, of in lifts.items()}
    yield Text(
        f"Averaged over the systems of this report, recall@20 runs from {_extreme(raw, lowest=True)} to "
        f"{_extreme(raw)}. Chance alone, which depends on the sizes of pools and ground truths only, runs from "
        f"{_extreme(level, lowest=True)} to {_extreme(level)}: compare genres by the difference from chance."
    )
    above = [genre for genre, of in lifts.items() if of[metric].sign == "▲"]
    below = [genre for genre, of in lifts.items() if of[metric].sign == "▼"]
    told = [
        f"{side} chance in {len(names)} of {len(lifts)} genres" + (f" ({numbers.listing(names)})" if names else "")
        for side, names in (("above", above), ("below", below))
    ]
    yield Text(f"The average of the systems is {told[0]} and {told[1]}.")


def _extreme(values: dict[str, float], *, lowest: bool = False) -> str:
    genre = (min if lowest else max)(values, key=lambda name: values[name])
    return f"{numbers.percent(values[genre])} ({genre})"


def _table(data: ReportData, grouping: str, lifts: dict[str, dict[str, Lift]]) -> Table:
    with_reported = data.reported and grouping == "genre"
    reported = peaks(table1()) if with_reported else {}
    rows = []
    for group, of in lifts.items():
        cells = [*_lift_cells(data, grouping, group, of)]
        if with_reported:
            cells.append(_reported_cell(reported.get(group)))
        rows.append(Row(tuple(cells)))
    heads = [
        Column(_TITLES[grouping], "left"), Column("Threads"), Column("Chance"), Column("Mean of systems"),
        Column("Above chance"), Column("Best by recall@20", "left"),
    ]  # fmt: skip
    if with_reported:
        heads.append(Column("Reported best", "left"))
    notes = (
        f"{note_signs(data)} The interval is that of the difference from chance, in percentage points; there is none "
        f"below {SMALLEST_SAMPLE} threads. "
        f"Small: fewer than {SMALL_GROUP} threads; the best system of a small group is mostly best by chance.",
    )
    return Table(
        f"By {_TITLES[grouping].lower()}: recall@20 / nDCG@20 in per cent, averaged over the systems of this report.",
        tuple(heads),
        tuple(rows),
        notes if grouping == "genre" else (),
    )


def _lift_cells(data: ReportData, grouping: str, group: str, lifts: dict[str, Lift]) -> Iterator[Cell]:
    scores = [run.scores.by[grouping][group] for run in data.runs]
    best = max(range(len(scores)), key=lambda i: scores[i].values["recall@20"] or 0.0)
    n, shown = scores[0].n, [lifts[metric] for metric in METRICS]
    yield cell(numbers.MACROS.get(group, group))
    yield cell(numbers.thousands(n), "small" if n < SMALL_GROUP else "")
    yield Cell(tuple(Part(numbers.percent(lift.chance)) for lift in shown))
    yield Cell(tuple(Part(numbers.percent(lift.mean)) for lift in shown))
    yield Cell(
        tuple(Part(numbers.points(lift.mean - lift.chance), sign=lift.sign) for lift in shown),
        " / ".join(numbers.points_bounds(lift.interval) for lift in shown),
    )
    yield cell(data.runs[best].label, numbers.percent(scores[best].values["recall@20"]))


def _reported_cell(best: Result | None) -> Cell:
    if best is None:
        return cell(numbers.UNDEFINED)
    where = f"{best.system}, {numbers.modality_label(best.modality)}"
    return cell(where, numbers.percent(best.values["recall@20"]))


def _reported_peaks() -> Text:
    best, chance = peaks(table1()), published_chance()
    genres = sorted(set(best) - {OVERALL}, key=lambda genre: best[genre].values["recall@20"])
    told = [
        f"{numbers.percent(best[genre].values['recall@20'])} in {genre} (chance "
        f"{numbers.percent(chance[genre]['recall@20'])})"
        for genre in (genres[0], genres[-1])
    ]
    return Text(f"Reported by the paper: the best recall@20 of a genre runs from {told[0]} to {told[1]}.")
