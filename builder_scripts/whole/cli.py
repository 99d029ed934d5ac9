"""`python -m builder_scripts all`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def whole(
    config: Annotated[Path, typer.Option(metavar="FILE", help="Settings of the run, in YAML; see docs/building.md.")],
) -> None:
    """Go the whole way from dumps to a dataset that loads and a system that is scored on it.

    What is done already is passed over, by what went into it and what came out, so a run that was stopped goes on with
    the same command, and one that is complete does nothing.
    """
    from rich.console import Console

    from musicrs_dataset.fetch.cli import TRY_LATER

    from ..audio.run import TryLaterError
    from .config import read_config
    from .steps import steps

    console = Console(stderr=True)
    n_new = 0
    for step in steps(read_config(config), console):
        try:
            done = step.run()
        except TryLaterError as error:
            typer.echo(f"{step.name}: {error}", err=True)
            raise typer.Exit(TRY_LATER) from error
        n_new += done.new
        kept = ", ".join(f"{counts.kept:,} of {counts.seen:,} {kind}" for kind, counts in done.manifest.counts.items())
        typer.echo(f"{step.name}: {'made' if done.new else 'nothing to do'} ({kept})")
        if done.new:
            for note in done.manifest.notes:
                console.print(f"  {note}", markup=False, highlight=False, soft_wrap=True)
    typer.echo("done" if n_new else "nothing to do: all of it was there")
