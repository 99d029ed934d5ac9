"""Figures 1 and 2 of the paper as data: properties of music datasets, and the threads that the paper shows."""

from __future__ import annotations

from collections.abc import Iterator

from ..base import numbers
from ..base.tables import Column, Row, Table, row
from ..paper.tables import SOURCE, examples, music_datasets
from .document import Section
from .report_data import ReportData

_SHOWN = 4


def related_section(data: ReportData) -> Section:
    """Build the section."""
    return Section("figures-1-2", "Figures 1 and 2 of the paper, as data", (_datasets(), _examples(data)))


def _datasets() -> Table:
    def yes(value: bool) -> str:
        return "yes" if value else "no"

    return Table(
        f"Music datasets and what they offer (facts of {SOURCE}, Figure 1).",
        (
            Column("Dataset", "left"), Column("Reference", "left"), Column("Source of the text", "left"),
            Column("Real conversations", "center"), Column("Audio", "center"), Column("Ground truth", "center"),
            Column("Recommendation", "center"), Column("Multimodal", "center"),
        ),
        tuple(
            row(
                found.name, found.reference, found.source, yes(found.real_conversations), yes(found.audio),
                yes(found.ground_truth), yes(found.recommendation), yes(found.multimodal),
            )
            for found in music_datasets()
        ),
    )  # fmt: skip


def _examples(data: ReportData) -> Table:
    rows = tuple(_example_rows(data))
    columns = [Column(name, "left") for name in ("Exhibit", "Genre", "Thread", "Query", "Ground truth, first items")]
    absent = "A dash marks a thread that this dataset does not have."
    notes = (
        (absent,)
        if any(numbers.UNDEFINED in [part.text for of in line.cells for part in of.parts] for line in rows)
        else ()
    )
    return Table(f"Threads that the paper shows ({SOURCE}, Figure 2 and case studies).", tuple(columns), rows, notes)


def _example_rows(data: ReportData) -> Iterator[Row]:
    for example in examples():
        position = data.references.position.get(example.thread_id)
        query, truth = numbers.UNDEFINED, numbers.UNDEFINED
        if position is not None:
            query = data.rows[position].get("query") or numbers.UNDEFINED
            truth = "; ".join(data.references.ground_truth[position][:_SHOWN])
        yield row(example.exhibit, example.genre, example.thread_id, query, truth)
