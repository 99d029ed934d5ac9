"""`python -m builder_scripts pools`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from musicrs_dataset.pools.poolset import DISTRACTORS, Design


def pools(
    work: Annotated[Path, typer.Option(help="Work folder of the corpus.")],
    design: Annotated[
        list[Design] | None,
        typer.Option(
            help="paper: ground truth and random titles of the subreddit, as published. balanced: every title of a "
            "subreddit in equally many pools. fresh: titles of threads that were left out, each used once. May be "
            "repeated; the first makes the pools of the plain configurations. A further design that the threads "
            "cannot fill is left out with a note. [all three, in this order]"
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same pools.")] = 0,
    distractors: Annotated[int, typer.Option(min=1, help="Wanted distractors per pool.")] = DISTRACTORS,
    unjudged: Annotated[
        bool, typer.Option("--unjudged", help="Take the corpus as the models left it, without annotation.")
    ] = False,
) -> None:
    """Put what the annotators decided into effect and draw candidate pools: -> gold/settled.jsonl, gold/pools/."""
    from ..layout import Work
    from ..pipeline.stage import tell
    from ..progress import tracking_list
    from .run import Drawing, run

    drawing = Drawing(tuple(design or Design), seed, distractors, unjudged)
    manifest, new = run(Work(work), drawing, tracking_list("Drawing pools"))
    tell(manifest, new, Work(work).pools)
