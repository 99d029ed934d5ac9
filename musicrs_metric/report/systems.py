"""The systems of a report: what their run cards say, and what was wrong with their rankings."""

from __future__ import annotations

from . import words
from .document import Column, Row, Section, Table, cell
from .evidence import Evidence


def systems_section(evidence: Evidence) -> Section:
    """Build the section."""
    rows = []
    for run in evidence.runs:
        card, scores = run.card, run.scores
        weights = {True: "open", False: "closed", None: words.UNDEFINED}[card.open_weights]
        trained = {True: "trained for this", False: "zero-shot", None: ""}[card.trained]
        no_audio = 0 if run.system.no_audio is None else int(run.system.no_audio.sum())
        counts = (scores.n_missing, no_audio, scores.n_unknown, scores.n_duplicate)
        rows.append(
            Row(
                (
                    cell(run.label),
                    cell(card.paradigm, trained),
                    cell(words.modality(card.modality)),
                    cell(card.reads),
                    cell(card.model_id or words.UNDEFINED, card.model_revision or ""),
                    cell(weights, card.licence or ""),
                    *(cell(words.count(number)) for number in counts),
                )
            )
        )
    texts = ("System", "Paradigm", "Modality", "Reads", "Model", "Weights")
    heads = ("Missing threads", "No audio", "Unknown titles", "Repeated titles")
    table = Table(
        "The systems, as their run cards describe them, and what was wrong with their rankings.",
        (*(Column(text, "left") for text in texts), *(Column(text) for text in heads)),
        tuple(rows),
        (
            "Reads: thread, its own query, post, clips and pool; pools, other threads' texts or pools without labels; "
            "labels, other threads' ground truth. A missing thread scores 0; no audio counts threads for which the run "
            "says so; an unknown title keeps its rank as a miss; a repeated title counts once.",
        ),
    )
    return Section("systems", "Systems", (table,))
