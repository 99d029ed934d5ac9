"""`python -m musicrs_dataset audit`: what a dataset's pools give away without music."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from musicrs_metric.base.output import print_json

from ..pools.files import read_pools, with_pools
from .adversary import Adversary
from .report import Subject, to_dict, write_report
from .results import Audit
from .run import SEEDS
from .run import audit as run
from .tables import Table, summary, tables

if TYPE_CHECKING:
    from rich.console import Console

# Columns of a terminal on which a table with a column of words is still a table.
_WIDE = 130


def audit(
    dataset: Annotated[str, typer.Argument(help="Directory given to `build`, or dataset name.")],
    config: Annotated[str, typer.Option(help="Configuration, e.g. query_only_balanced.")] = "query_only",
    pools: Annotated[Path | None, typer.Option(help="Pool file to audit in place of the configuration's.")] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Orderings of tied candidates to average over.")] = SEEDS,
    as_json: Annotated[bool, typer.Option("--json", help="Print the audit as JSON.")] = False,
    out: Annotated[Path | None, typer.Option(help="Folder for audit.json, audit.md and audit.html.")] = None,
) -> None:
    """Rank the pools without music in every way that has been found, and say which of them beats chance."""
    from rich.console import Console

    from ..loading import iter_threads

    threads = list(iter_threads(dataset, config, audio=False))
    if pools is not None:
        threads = with_pools(threads, read_pools(pools))
    found = run(threads, seeds=seeds, track=_progress)
    subject = Subject(dataset, config, None if pools is None else str(pools))
    if out is not None:
        files = write_report(out, found, subject)
        Console(stderr=True).print("wrote " + ", ".join(map(str, files)), markup=False, highlight=False, soft_wrap=True)
    if as_json:
        print_json(to_dict(found, subject))
    else:
        _print(found, str(subject))


def _print(found: Audit, subject: str) -> None:
    from rich.console import Console

    # A pipe has no width; the tables are wide.
    console = Console(width=None if sys.stdout.isatty() else 200)
    console.print(f"Audit of {subject}", style="bold", markup=False, highlight=False)
    console.print(summary(found), markup=False, highlight=False)
    for table in tables(found):
        console.print(f"\n{table.title}: {table.text}", markup=False, highlight=False)
        if not table.long:
            _print_table(console, table)
        for note in table.notes:
            console.print(f"- {note}", markup=False, highlight=False)


def _print_table(console: Console, table: Table) -> None:
    from rich import box
    from rich.markup import escape
    from rich.table import Table as Grid

    narrow = console.width < _WIDE
    kept = [place for place, column in enumerate(table.columns) if not (narrow and column == table.wordy)]
    shown = Grid(*(table.columns[place] for place in kept), box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for row in table.rows:
        shown.add_row(*(escape(row[place]) for place in kept))
    console.print(shown)


def _progress(adversaries: Sequence[Adversary]) -> Iterable[Adversary]:
    from rich.console import Console
    from rich.progress import track

    return track(adversaries, description="Trying adversaries", console=Console(stderr=True))
