"""Scores of every thread as rows of a file (CSV or JSON lines), for plots and for the analysis of failures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..base.files import replacing, to_json
from ..base.text import csv_line
from ..errors import UserError
from .read import ScoredRun

if TYPE_CHECKING:
    from ..catalogue.read import ScoredDialogues


def thread_rows(run: ScoredRun | ScoredDialogues) -> Iterator[dict[str, Any]]:
    """Yield one row per thread, in dataset order.

    Args:
        run: A scored run.

    Yields:
        Thread id and groups, the counts of its ranking, every measure under its name, and the chance level of every
        measure under "chance <name>".
    """
    hits, table, references = run.table.hits, run.table, run.references
    for i, thread in enumerate(references.thread_ids):
        row: dict[str, Any] = {"thread_id": thread}
        row |= {grouping: labels[i] for grouping, labels in references.groups.items()}
        # A catalogue is the pool of every turn, without the items that are known by then.
        n_candidates = len(references.candidates[i]) or (0 if hits.pool_size is None else int(hits.pool_size[i]))
        row |= {"n_candidates": n_candidates, "n_relevant": int(hits.n_relevant[i])}
        row |= {"missing": bool(hits.missing[i])}
        row |= {"n_unknown": int(hits.n_unknown[i]), "n_duplicate": int(hits.n_duplicate[i])}
        row |= {name: float(values[i]) for name, values in table.values.items()}
        row |= {f"chance {name}": float(values[i]) for name, values in (table.chance or {}).items()}
        yield row


def write_thread_rows(path: str | Path, run: ScoredRun | ScoredDialogues) -> None:
    """Write the rows of `thread_rows` in the format of the file suffix.

    Args:
        path: A file whose name ends in .csv or .jsonl.
        run: A scored run.

    Raises:
        UserError: The name ends differently.
    """
    rows = thread_rows(run)
    suffix = Path(path).suffix
    if suffix not in (".csv", ".jsonl"):
        raise UserError(f"{path}: found the ending {suffix!r}, expected .csv or .jsonl")
    with replacing(path) as file:
        if suffix == ".jsonl":
            file.writelines(to_json(row) + "\n" for row in rows)
            return
        for position, row in enumerate(rows):
            if not position:
                file.write(csv_line(row))
            file.write(csv_line(row.values()))
