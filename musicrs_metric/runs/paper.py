"""Scores as a paper needs them: tables for LaTeX, and a sentence with its numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..base.numbers import UNDEFINED, percent, percent_bounds, percent_range
from ..base.tables import Row, Table, cell, columns, text_table
from ..scoring import Scores
from .score_tables import headline, shown_measures, verdict_rule


def paper_tables(scores: Scores, title: str) -> list[Table]:
    """Return a table of the measures, and one per grouping.

    Args:
        scores: The scores.
        title: What was scored.
    """
    tables = [_measures(scores, title)]
    tables += [_groups(grouping, groups, title) for grouping, groups in scores.by.items()]
    return tables


def paper_sentence(scores: Scores, title: str) -> str:
    """Return a sentence with the numbers of recall and nDCG at the largest cutoff and of MRR, ready to paste.

    Args:
        scores: The scores.
        title: What was scored.
    """
    measures = "; ".join(_clause(scores, name) for name in headline(scores))
    intervals = f", with {scores.settings['confidence'] * 100:g} % intervals" if scores.interval is not None else ""
    missing = f", {scores.n_missing} of them without a prediction and counted as 0" if scores.n_missing else ""
    empty = "counted as 0" if scores.settings["empty"] == "zero" else "excluded"
    no_truth = f"; threads with an empty ground truth ({scores.n_empty}) are {empty}" if scores.n_empty else ""
    return f"{title} reaches {measures} (in %{intervals}, n = {scores.n} threads{missing}{no_truth})."


def _clause(scores: Scores, name: str) -> str:
    value = _short(scores.values[name])
    interval = "" if scores.interval is None else f" {percent_bounds(scores.interval[name])}"
    verdict = scores.verdict(name)
    if verdict is None or scores.answered is None:
        return f"{value}{interval} {name}"
    if scores.n_missing:
        # The verdict covers the threads with a prediction, so its chance level is theirs as well.
        where = f" on the {scores.answered.n} threads with a prediction"
        return f"{value}{interval} {name} ({verdict} chance{where}, {_short(scores.answered.chance[name])})"
    return f"{value}{interval} {name}, {verdict} chance {_short(scores.answered.chance[name])}"


def _short(value: float | None) -> str:
    return UNDEFINED if value is None else f"{100 * value:.1f}"


def _measures(scores: Scores, title: str) -> Table:
    rows = []
    for name in shown_measures(scores):
        interval = None if scores.interval is None else scores.interval[name]
        chance = None if scores.chance is None else scores.chance[name]
        rows.append((name, percent(scores.values[name]), percent_range(interval), percent(chance),
                     percent(scores.ceiling[name]), scores.verdict(name) or UNDEFINED))  # fmt: skip
    heads = ("Measure", "score", "interval", "chance", "ceiling", "to chance")
    return text_table(f"{title}: scores in %, n = {scores.n}", heads, rows, tuple(_notes(scores)))


def _groups(grouping: str, groups: Mapping[str, Scores], title: str) -> Table:
    names = headline(next(iter(groups.values())))
    rows = []
    for group, scores in groups.items():
        cells = [cell(group), cell(str(scores.n))]
        for name in names:
            interval = None if scores.interval is None else scores.interval[name]
            cells.append(cell(percent(scores.values[name]), "" if interval is None else percent_bounds(interval)))
            cells.append(cell(percent(None if scores.chance is None else scores.chance[name])))
        rows.append(Row(tuple(cells)))
    heads = (grouping, "n", *(head for name in names for head in (name, "chance")))
    notes = tuple(dict.fromkeys(note for scores in groups.values() for note in _interval_notes(scores)))
    return Table(f"{title}: scores by {grouping} in %", columns(*heads), tuple(rows), notes)


def _notes(scores: Scores) -> Iterator[str]:
    if scores.n_missing:
        yield f"{scores.n_missing} of {scores.n} threads without a prediction, counted as 0"
    if scores.n_empty:
        yield f"{scores.n_empty} threads with an empty ground truth"
    yield from _interval_notes(scores)
    if scores.answered is not None:
        yield verdict_rule(scores)


def _interval_notes(scores: Scores) -> Iterator[str]:
    if scores.interval_method is not None:
        yield f"{100 * scores.settings['confidence']:g} % intervals: {scores.interval_method}"
    if scores.interval_reason is not None:
        yield f"no interval: {scores.interval_reason}"
