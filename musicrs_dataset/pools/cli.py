"""`python -m musicrs_dataset pools`: draw candidate pools for a dataset and write them to a file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from musicrs_metric.base.progress import say
from musicrs_metric.errors import UserError

from ..records import Thread
from .files import manifest_path, write_pools
from .fresh import read_corpus
from .poolset import DESIGNS, DISTRACTORS, Design, Groups, design_rule, draw_pools


def pools(
    dataset: Annotated[str, typer.Argument(help="Directory given to `build`, or dataset name.")],
    out: Annotated[Path, typer.Option(help="File to write: JSON lines of {thread_id, candidates}.")],
    design: Annotated[
        Design, typer.Option(help=" ".join(f"{name}: {rule.help}." for name, rule in DESIGNS.items()))
    ] = Design.BALANCED,
    seed: Annotated[int, typer.Option(min=0, help="Random seed. The same seed gives the same pools.")] = 0,
    distractors: Annotated[int, typer.Option(min=1, help="Wanted distractors per pool.")] = DISTRACTORS,
    corpus: Annotated[
        Path | None, typer.Option(help='JSON lines of {"subreddit", "entity"}. The design fresh needs them.')
    ] = None,
    config: Annotated[str, typer.Option(help="Configuration to read threads from.")] = "query_only",
) -> None:
    """Draw candidate pools for the threads of a dataset. `build --pools FILE` adds them to a dataset.

    The command never changes the dataset itself. It writes a manifest of the same name next to the file.
    """
    from rich.console import Console

    from ..loading import iter_threads

    if design_rule(design).needs_corpus != (corpus is not None):
        raise UserError(
            f"the design {design} needs --corpus FILE with titles from outside the test set"
            if corpus is None
            else f"--corpus is for the design fresh only, found --design {design}"
        )
    console = Console(stderr=True)
    threads = list(iter_threads(dataset, config, audio=False))
    if not threads:
        raise UserError(f"{dataset}, configuration {config!r}: found no threads, expected at least one")
    titles = None if corpus is None else read_corpus(corpus)
    pool_set = draw_pools(threads, design, corpus=titles, distractors=distractors, seed=seed, track=_progress)
    write_pools(out, pool_set, threads, source=dataset)
    for note in pool_set.notes:
        console.print(f"note: {note}", markup=False, highlight=False)
    sizes = [len(pool) for pool in pool_set.pools.values()]
    say(console, f"{len(sizes)} pools of {min(sizes)} to {max(sizes)} candidates -> {out}, {manifest_path(out)}")


def _progress(groups: Groups) -> Iterable[tuple[str, list[Thread]]]:
    from rich.console import Console
    from rich.progress import track

    return track(groups, description="Drawing pools", console=Console(stderr=True))
