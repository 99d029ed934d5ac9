"""The command line of the making: one command per stage, in the order in which they run."""

from __future__ import annotations

import typer

from musicrs_metric.errors import front_door

from .mine.cli import mine
from .threads.cli import threads

app = typer.Typer(
    name="builder_scripts",
    help="Make MusiCRS from Reddit dumps. Every stage reads and writes one work folder and can be stopped and resumed.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


# Each stage is a function of its own name in `builder_scripts/<stage>/cli.py`; heavy imports stay inside it.
app.command()(mine)
app.command()(threads)


def main() -> None:
    """Run the command line."""
    front_door(app)
