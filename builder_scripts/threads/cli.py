"""`python -m builder_scripts threads`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .rules import Rules

if TYPE_CHECKING:
    from ..manifest import StageManifest

_DEFAULT = Rules()


class EngineName(StrEnum):
    """What the filters run on."""

    duckdb = "duckdb"
    spark = "spark"


def threads(
    work: Annotated[Path, typer.Option(help="Work folder of the corpus.")],
    engine: Annotated[EngineName, typer.Option(help="What to run on; both give the same files.")] = EngineName.duckdb,
    master: Annotated[str | None, typer.Option(help="Spark's master, or sc://... [this machine]")] = None,
    memory: Annotated[str | None, typer.Option(help="What DuckDB or Spark's driver may take, e.g. 4GB.")] = None,
    min_replies: Annotated[
        int, typer.Option(min=1, help="First-level replies that a thread needs.")
    ] = _DEFAULT.min_replies,
    min_chars: Annotated[int, typer.Option(min=0, help="Characters that a reply needs.")] = _DEFAULT.min_chars,
    keep_deleted: Annotated[
        bool, typer.Option("--keep-deleted", help="Use what an earlier dump has of texts that were taken back since.")
    ] = _DEFAULT.keep_deleted,
    keep_bots: Annotated[bool, typer.Option("--keep-bots", help="Keep what programs wrote.")] = _DEFAULT.keep_bots,
    keep_stickied: Annotated[
        bool, typer.Option("--keep-stickied", help="Keep comments that moderators pinned.")
    ] = _DEFAULT.keep_stickied,
    asker_counts: Annotated[
        bool,
        typer.Option("--asker-counts/--no-asker-counts", help="Count the asker's own replies among those needed."),
    ] = _DEFAULT.asker_counts,
) -> None:
    """Find the threads with a YouTube link and enough first-level replies; each row left out has one reason."""
    from rich.console import Console

    from ..layout import Work
    from .run import run

    rules = Rules(min_replies, min_chars, keep_deleted, keep_bots, keep_stickied, asker_counts)
    with Console(stderr=True).status("starting") as status:
        manifest, new = run(Work(work), rules, engine.value, memory=memory, master=master, step=status.update)
    _tell(manifest, work, new)


def _tell(manifest: StageManifest, work: Path, new: bool) -> None:
    for kind, kept_as in (("submissions", "threads"), ("comments", "replies")):
        counts = manifest.counts[kind]
        typer.echo(f"{counts.seen:,} {kind} -> {counts.kept:,} {kept_as}")
        for reason, n in counts.dropped.items():
            signs = manifest.counts[f"deleted {kind}"].dropped if reason == "deleted" else {}
            by_sign = ", ".join(f"{sign} {of_it:,}" for sign, of_it in signs.items())
            typer.echo(f"  {n:>12,} {reason}" + (f" ({by_sign})" if by_sign else ""))
    for note in manifest.notes:
        typer.echo(f"note: {note}", err=True)
    typer.echo(f"{'made' if new else 'nothing to do:'} {work / 'silver'}")
