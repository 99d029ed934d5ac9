"""What a stage says when it is through."""

from __future__ import annotations

from pathlib import Path

import typer

from ..manifest import StageManifest


def tell(manifest: StageManifest, new: bool, made: Path) -> None:
    """Print where rows went and what to know.

    Args:
        manifest: Of the stage.
        new: It was run just now, and had not been done before.
        made: Its main output.
    """
    for kind, counts in manifest.counts.items():
        typer.echo(f"{kind}: {counts.kept:,} of {counts.seen:,} kept")
        for reason, n in counts.dropped.items():
            if n:
                typer.echo(f"  {n:>12,} {reason}")
    for note in manifest.notes:
        typer.echo(f"note: {note}", err=True)
    typer.echo(f"{'made' if new else 'nothing to do:'} {made}")
