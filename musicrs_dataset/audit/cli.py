"""`python -m musicrs_dataset audit`: search the pools of a dataset for leaks."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from musicrs_metric.base.output import print_json
from musicrs_metric.base.renderers.terminal import rich_table
from musicrs_metric.base.tables import Row, Table

from ..pools.files import read_pools, with_pools
from .adversary import Adversary
from .catalogue import ADVERSARIES
from .encoder import load_encoder
from .meaning import embedding_adversaries
from .report import Subject, to_dict, write_report
from .results import Audit
from .run import SEEDS
from .run import audit as run
from .tables import Section, sections, summary

if TYPE_CHECKING:
    from rich.console import Console

# Fewest columns of a terminal that fit a table with a column of words.
_WIDE = 130


def audit(
    dataset: Annotated[str, typer.Argument(help="Directory given to `build`, or dataset name.")],
    config: Annotated[str, typer.Option(help="Configuration, e.g. query_only_balanced.")] = "query_only",
    pools: Annotated[Path | None, typer.Option(help="Pool file to audit instead of the configuration's pools.")] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Number of orderings of tied candidates to average over.")] = SEEDS,
    encoder: Annotated[
        str | None,
        typer.Option(help="Folder or Hub id of a text encoder, to compare texts by meaning too. Needs torch."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the audit as JSON.")] = False,
    out: Annotated[Path | None, typer.Option(help="Folder for audit.json, audit.md and audit.html.")] = None,
) -> None:
    """Rank the pools without music in every known way, and report the routes that leak."""
    from rich.console import Console

    from ..loading import iter_threads

    threads = list(iter_threads(dataset, config, audio=False))
    if pools is not None:
        threads = with_pools(threads, read_pools(pools))
    adversaries = ADVERSARIES
    if encoder is None:
        note = "note: candidates are compared by spelling only; --encoder compares them by meaning"
        Console(stderr=True).print(note, markup=False, highlight=False, soft_wrap=True)
    else:
        adversaries = (*ADVERSARIES, *embedding_adversaries(load_encoder(encoder)))
    result = run(threads, adversaries, seeds=seeds, track=_progress)
    subject = Subject(dataset, config, None if pools is None else str(pools))
    if out is not None:
        files = write_report(out, result, subject)
        Console(stderr=True).print("wrote " + ", ".join(map(str, files)), markup=False, highlight=False, soft_wrap=True)
    if as_json:
        print_json(to_dict(result, subject))
    else:
        _print(result, str(subject))


def _print(result: Audit, subject: str) -> None:
    from rich.console import Console

    # A pipe has no width, and the tables are wide.
    console = Console(width=None if sys.stdout.isatty() else 200)
    console.print(f"Audit of {subject}", style="bold", markup=False, highlight=False)
    console.print(summary(result), markup=False, highlight=False)
    for section in sections(result):
        console.print(f"\n{section.title}: {section.text}", markup=False, highlight=False)
        if not section.long:
            _print_table(console, section)
        for note in section.table.notes:
            console.print(f"- {note}", markup=False, highlight=False)


def _print_table(console: Console, section: Section) -> None:
    from rich import box

    is_narrow = console.width < _WIDE
    shown = [i for i, column in enumerate(section.columns) if not (is_narrow and column == section.wordy)]
    columns = tuple(section.table.columns[i] for i in shown)
    rows = tuple(Row(tuple(row.cells[i] for i in shown)) for row in section.table.rows)
    grid = rich_table(Table("", columns, rows), box=box.SIMPLE_HEAD)
    grid.padding = (0, 1, 0, 0)
    console.print(grid)


def _progress(adversaries: Sequence[Adversary]) -> Iterable[Adversary]:
    from rich.console import Console
    from rich.progress import track

    return track(adversaries, description="Trying adversaries", console=Console(stderr=True))
