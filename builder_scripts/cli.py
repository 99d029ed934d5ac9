"""The command line of the making: one command per stage, in the order in which they run."""

from __future__ import annotations

import typer

from musicrs_metric.errors import front_door

from .annotate.cli import annotate
from .audio.cli import audio
from .extract.cli import extract
from .mine.cli import mine
from .pipeline.cli import whole
from .pools.cli import pools
from .queries.cli import queries
from .refine.cli import refine
from .release.cli import release
from .threads.cli import threads

app = typer.Typer(
    name="builder_scripts",
    help="Make MusiCRS from Reddit dumps. Every stage reads and writes one work folder and can be stopped and resumed.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

# Each stage has its name in `builder_scripts/<stage>/cli.py`, in modules that import heavy libraries in functions only.
app.command()(mine)
app.command()(threads)
app.command("extract")(extract)
app.command("queries")(queries)
app.command()(refine)
app.command()(audio)
app.add_typer(annotate)
app.command()(pools)
app.command()(release)
app.command("all")(whole)


def main() -> None:
    """Run the command line."""
    front_door(app)
