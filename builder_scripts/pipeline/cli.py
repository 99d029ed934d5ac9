"""`python -m builder_scripts all`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def whole(
    config: Annotated[Path, typer.Option(metavar="FILE", help="Settings of the run, in YAML; see docs/building.md.")],
) -> None:
    """Go the whole way from dumps to a dataset that loads and a system that is scored on it.

    The command checks all settings before it starts. Finished stages are skipped: to resume a stopped run, repeat the
    command. Questions that a model failed to answer are asked again.
    """
    from rich.console import Console

    from musicrs_dataset.audio.fetch.cli import TRY_LATER

    from ..audio.run import TryLaterError
    from ..llm.stopping import StoppedError
    from .check import check
    from .config import read_config
    from .steps import steps

    console = Console(stderr=True)
    settings = read_config(config)
    for note in check(settings):
        console.print(f"note: {note}", markup=False, highlight=False, soft_wrap=True)
    n_new = 0
    for step in steps(settings, console):
        try:
            done = step.run()
        except TryLaterError as error:
            typer.echo(f"{step.name}: {error}", err=True)
            raise typer.Exit(TRY_LATER) from error
        except StoppedError as error:
            typer.echo(f"{step.name}: {error}", err=True)
            raise typer.Exit(error.exit_code) from error
        n_new += done.new
        kept = ", ".join(f"{counts.kept:,} of {counts.seen:,} {kind}" for kind, counts in done.manifest.counts.items())
        typer.echo(f"{step.name}: {'made' if done.new else 'nothing to do'} ({kept})")
        if done.new:
            for note in done.manifest.notes:
                console.print(f"  {note}", markup=False, highlight=False, soft_wrap=True)
    typer.echo("done" if n_new else "nothing to do: all of it was there")
