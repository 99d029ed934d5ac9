"""The systems of a report: what their run cards say, and what was wrong with their rankings."""

from __future__ import annotations

from ..base import numbers
from ..base.tables import Cell, Column, Row, Table, cell
from ..paper.tables import METRICS
from .document import Section
from .report_data import ReportData
from .runs import ReportRun

_FILLED = ("Filled, %", "Score with that at chance")
_NOTE_FILLED = (
    "Filled: the share of the pools that a system did not rank itself and that was appended in random order. With that "
    f"at chance: {' / '.join(numbers.measure_label(metric) for metric in METRICS)} in per cent, the expectation over "
    "all orders of what was appended."
)


def systems_section(data: ReportData) -> Section:
    """Build the section."""
    any_filled = any(run.filled is not None for run in data.runs)
    rows = []
    for run in data.runs:
        card, scores = run.card, run.scores
        weights = {True: "open", False: "closed", None: numbers.UNDEFINED}[card.open_weights]
        trained = {True: "trained for this", False: "zero-shot", None: ""}[card.trained]
        no_audio = 0 if run.system.no_audio is None else int(run.system.no_audio.sum())
        counts = (scores.n_missing, no_audio, scores.n_unknown, scores.n_duplicate)
        rows.append(
            Row(
                (
                    cell(run.label),
                    cell(card.paradigm, trained),
                    cell(numbers.modality_label(card.modality)),
                    cell(card.reads),
                    cell(card.model_id or numbers.UNDEFINED, card.model_revision or ""),
                    cell(weights, card.licence or ""),
                    *(cell(numbers.thousands(number)) for number in counts),
                    *(_filled(run) if any_filled else ()),
                )
            )
        )
    texts = ("System", "Paradigm", "Modality", "Reads", "Model", "Weights")
    heads = ("Missing threads", "No audio", "Unknown titles", "Repeated titles", *(_FILLED if any_filled else ()))
    table = Table(
        "The systems, as their run cards describe them, and what was wrong with their rankings.",
        (*(Column(text, "left") for text in texts), *(Column(text) for text in heads)),
        tuple(rows),
        (
            "Reads: thread, its own query, post, clips and pool; pools, other threads' texts or pools without labels; "
            "labels, other threads' ground truth. A missing thread scores 0; no audio counts threads for which the run "
            "says so; an unknown title keeps its rank as a miss; a repeated title counts once.",
            *([_NOTE_FILLED] if any_filled else []),
            *(f"{run.label}: {warning}." for run in data.runs for warning in run.warnings),
        ),
    )
    return Section("systems", "Systems", (table,))


def _filled(run: ReportRun) -> tuple[Cell, Cell]:
    if run.filled is None:
        return cell(numbers.UNDEFINED), cell(numbers.UNDEFINED)
    expected = " / ".join(numbers.percent(run.filled.expected[metric]) for metric in METRICS)
    return cell(numbers.percent(run.filled.filled)), cell(expected)
