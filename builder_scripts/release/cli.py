"""`python -m builder_scripts release`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def release(
    work: Annotated[Path, typer.Option(help="Work folder of the corpus.")],
    name: Annotated[str, typer.Option(help="Name of the dataset and of its folder.")],
    title: Annotated[str, typer.Option(help="What to call it. [its name]")] = "",
    by: Annotated[str, typer.Option(help="Who releases it.")] = "",
    contact: Annotated[str, typer.Option(help="Where to ask, and where to have something removed.")] = "",
    licence: Annotated[str, typer.Option(help="Of requests, labels and pools, as the Hub names it.")] = "cc-by-4.0",
    purpose: Annotated[str, typer.Option(help="Why it was made, in a sentence or two.")] = "",
    takedown: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Ids and u/names to remove, one per line; kept for all later releases."),
    ] = None,
    budget: Annotated[float, typer.Option(help="Seconds that the clips of a thread share.")] = 300.0,
    seed: Annotated[int, typer.Option(min=0, help="Chooses ten links where a thread has more usable ones.")] = 0,
    language: Annotated[str, typer.Option(help="Languages of the texts, as in en or en,de, for the card.")] = "en",
    redact: Annotated[
        bool,
        typer.Option("--redact", help="Replace e-mail addresses, telephone numbers and @name in texts."),
    ] = False,
) -> None:
    """Make the dataset with its card, datasheet and figures: -> release/NAME/, ready for `load_dataset` and the Hub."""
    from ..layout import Work
    from ..pipeline.stage import tell
    from ..progress import tracking_list
    from .options import Options
    from .run import folder_of, run

    options = Options(name, title, by, contact, licence, purpose, takedown, budget, seed, language, redact)
    manifest, new = run(Work(work), options, tracking_list("Writing"))
    tell(manifest, new, folder_of(Work(work), options))
