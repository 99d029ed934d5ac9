"""Table 1: systems by modality and genre, with chance, intervals and rank groups, then the rows of the paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ..base import numbers
from ..base.tables import Cell, Column, Emphasis, Part, Row, Table, cell
from ..chance import Verdict
from ..paper.tables import METRICS, OVERALL, SOURCE, Result, published_chance, table1
from .document import Section, Text
from .report_data import ReportData, scores_on
from .runs import ReportRun

SIGNS: dict[Verdict | None, str] = {"above": "▲", "at": "", "below": "▼", None: ""}
REPORTED_SIGNS: dict[Verdict, str] = {"above": "△", "at": "", "below": "▽"}
_NOTE_GROUPS = (
    "Group: group 1 holds the best system and those that the tests cannot separate from it, among systems that read "
    "the same. Below it: the interval of the rank. The best is bold, the others of group 1 are underlined. A system "
    "that alone reads what it reads has no group."
)
_NOTE_REPORTED = (
    f"Reported: figures of {SOURCE}, Table 1, copied and not recomputed. They have no interval. △ ▽: the figure is "
    "above or below chance on the published pools, without a test."
)
_NOTE_OTHER_DATA = (
    "The runs of this report are on other data than the published file: their rows and the reported rows cannot be "
    "compared with each other."
)


def note_signs(data: ReportData) -> str:
    """Return the meaning of the signs of `SIGNS`, with the rule of the verdicts."""
    return f"▲ above chance, ▼ below chance. Rule for {data.runs[0].scores.verdict_rule}."


def table_section(data: ReportData) -> Section:
    """Build the section."""
    columns = [OVERALL, *data.genres]
    rows = [_chance_row(data, columns), *_run_rows(data, columns)]
    notes = [note_signs(data), *_partial(data), *([_NOTE_GROUPS] if data.comparison else [])]
    if data.reported:
        rows += _reported_rows(columns)
        notes.append(_NOTE_REPORTED)
        if not data.published:
            notes.append(_NOTE_OTHER_DATA)
    heads = [Column("System", "left"), Column("Modality", "left"), Column("Group")]
    table = Table(
        "Recall@20 / nDCG@20 in per cent, with their 95 % intervals over threads below, in this order.",
        (*heads, *(Column(name) for name in columns)),
        tuple(rows),
        tuple(notes),
    )
    return Section("table-1", "Table 1: systems by genre and modality", (*_resolution(data), table))


def _partial(data: ReportData) -> Iterator[str]:
    """State the threads that the signs of a run cover, if it lacks predictions."""
    for run in data.runs:
        if run.scores.n_missing:
            n = numbers.plural(run.scores.n - run.scores.n_missing, run.scores.unit)
            yield f"{run.label}: its signs cover the {n} of {numbers.thousands(run.scores.n)} that have a prediction."


def _resolution(data: ReportData) -> Iterator[Text]:
    """State the smallest difference that these threads can show."""
    if data.comparison is None:
        return
    found = [(metric, data.comparison.metrics[metric]) for metric in METRICS]
    shown = [
        f"{numbers.percent(of.detectable)} points in {numbers.measure_label(metric)}"
        for metric, of in found
        if of.detectable  # 0 for two systems with equal scores
    ]
    if shown:
        n = numbers.plural(data.comparison.n, data.comparison.settings.unit)
        yield Text(
            f"On {n} a test of two typical systems finds a difference of "
            f"{numbers.listing(shown)} in four of five repetitions; smaller ones usually go unseen."
        )


def _chance_row(data: ReportData, columns: Sequence[str]) -> Row:
    cells = [_plain([numbers.percent(data.chance(name).get(metric)) for metric in METRICS]) for name in columns]
    return Row((cell("chance"), cell(numbers.UNDEFINED), cell(numbers.UNDEFINED), *cells), "chance")


def _run_rows(data: ReportData, columns: Sequence[str]) -> Iterator[Row]:
    paradigm = None
    peers = Counter(run.card.reads for run in data.runs)
    for run in data.runs:
        if run.card.paradigm != paradigm:
            paradigm = run.card.paradigm
            yield Row((cell(paradigm),), "heading")
        filled = "" if run.filled is None else f"\n{numbers.percent(run.filled.filled)} % filled"
        modality = cell(numbers.modality_label(run.card.modality), f"reads {run.card.reads}{filled}")
        marked = peers[run.card.reads] > 1
        head = [
            cell(run.label.removesuffix(f", {numbers.modality_label(run.card.modality)}")),
            modality,
            _group(data, run) if marked else cell(numbers.UNDEFINED),
        ]
        cells = [_overall(data, run, marked), *(_genre(run, genre) for genre in columns[1:])]
        yield Row((*head, *cells))


def _overall(data: ReportData, run: ReportRun, marked: bool) -> Cell:
    parts = []
    for metric in METRICS:
        standing = data.standing(run, metric)
        emphasis: Emphasis = ""
        if standing is not None and marked:
            emphasis = "best" if standing.rank == 1 else "tied" if standing.group == 1 else ""
        parts.append(Part(numbers.percent(run.scores.values[metric]), emphasis, SIGNS[run.scores.verdict(metric)]))
    return Cell(tuple(parts), _intervals(run, OVERALL))


def _genre(run: ReportRun, genre: str) -> Cell:
    scores = scores_on(run, genre)
    parts = [Part(numbers.percent(scores.values[metric]), sign=SIGNS[scores.verdict(metric)]) for metric in METRICS]
    return Cell(tuple(parts), _intervals(run, genre))


def _intervals(run: ReportRun, genre: str) -> str:
    interval = scores_on(run, genre).interval
    return "\n".join(numbers.percent_bounds(None if interval is None else interval[metric]) for metric in METRICS)


def _group(data: ReportData, run: ReportRun) -> Cell:
    found = [data.standing(run, metric) for metric in METRICS]
    if any(standing is None for standing in found):
        return cell(numbers.UNDEFINED)
    standings = [standing for standing in found if standing is not None]
    ranks = " / ".join(numbers.rank_range(standing.rank_interval) for standing in standings)
    return Cell(tuple(Part(str(standing.group)) for standing in standings), f"rank {ranks}")


def _reported_rows(columns: Sequence[str]) -> Iterator[Row]:
    chance = published_chance()
    known = [name for name in columns if name in chance]
    cells = {name: _plain([numbers.percent(chance[name][metric]) for metric in METRICS]) for name in known}
    yield Row((cell("Reported by the paper"),), "heading")
    blank = cell(numbers.UNDEFINED)
    yield Row((cell("chance, published pools"), blank, blank, *(cells.get(name, blank) for name in columns)), "chance")
    grouped: dict[tuple[str, str], dict[str, Result]] = {}
    for result in table1():
        grouped.setdefault((result.system, result.modality), {})[result.genre] = result
    for (system, modality), by_genre in grouped.items():
        values = [_reported(by_genre[name], chance[name]) if name in by_genre else blank for name in columns]
        yield Row((cell(system), cell(numbers.modality_label(modality)), blank, *values), "reported")


def _reported(result: Result, chance: dict[str, float]) -> Cell:
    def verdict(metric: str) -> Verdict:
        value, level = result.values[metric], chance[metric]
        return "above" if value > level else "below" if value < level else "at"

    return Cell(
        tuple(Part(numbers.percent(result.values[metric]), sign=REPORTED_SIGNS[verdict(metric)]) for metric in METRICS)
    )


def _plain(texts: Sequence[str]) -> Cell:
    return Cell(tuple(Part(text) for text in texts))
