"""Whole run: check the settings, then run the stages one after the other."""

from __future__ import annotations

from pathlib import Path

import typer
from rich.console import Console

from musicrs_dataset.audio.fetch.cli import TRY_LATER

from ..audio.run import TryLaterError
from ..llm.generate import StoppedError
from .check import check
from .config import read_config
from .steps import steps


def run(path: Path) -> None:
    """Run all stages.

    Args:
        path: The settings file.

    Raises:
        UserError: A setting is wrong, or a stage needs a person.
        typer.Exit: A stage stopped early. The exit code says why.
    """
    console = Console(stderr=True)
    config = read_config(path)
    for note in check(config):
        console.print(f"note: {note}", markup=False, highlight=False, soft_wrap=True)
    n_new = 0
    for step in steps(config, console):
        try:
            manifest, is_new = step.run()
        except TryLaterError as error:
            typer.echo(f"{step.name}: {error}", err=True)
            raise typer.Exit(TRY_LATER) from error
        except StoppedError as error:
            typer.echo(f"{step.name}: {error}", err=True)
            raise typer.Exit(error.exit_code) from error
        n_new += is_new
        kept = ", ".join(f"{counts.kept:,} of {counts.seen:,} {kind}" for kind, counts in manifest.counts.items())
        typer.echo(f"{step.name}: {'made' if is_new else 'nothing to do'} ({kept})")
        if is_new:
            for note in manifest.notes:
                console.print(f"  {note}", markup=False, highlight=False, soft_wrap=True)
    typer.echo("done" if n_new else "nothing to do: all of it was there")
