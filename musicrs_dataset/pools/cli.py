"""`python -m musicrs_dataset pools`: draw candidate pools for a dataset and write them to a file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from musicrs_metric.errors import UserError

from ..records import Thread
from .balanced import balanced_pools
from .files import manifest_path, write_pools
from .fresh import fresh_pools, read_corpus
from .paper import paper_pools
from .poolset import DISTRACTORS, Design, Groups, PoolSet


def pools(
    dataset: Annotated[str, typer.Argument(help="Directory given to `build`, or dataset name.")],
    out: Annotated[Path, typer.Option(help="File to write: JSON lines of {thread_id, candidates}.")],
    design: Annotated[
        Design,
        typer.Option(
            help="paper: ground truth and random titles of the subreddit, as published. balanced: every title of a "
            "subreddit in equally many pools. fresh: distractors from --corpus, each used once."
        ),
    ] = Design.BALANCED,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same pools.")] = 0,
    distractors: Annotated[int, typer.Option(min=1, help="Wanted distractors per pool.")] = DISTRACTORS,
    corpus: Annotated[
        Path | None, typer.Option(help='JSON lines of {"subreddit", "entity"}; needed by the design fresh.')
    ] = None,
    config: Annotated[str, typer.Option(help="Configuration to read threads from.")] = "query_only",
) -> None:
    """Draw candidate pools for the threads of a dataset; `build --pools FILE` takes them up.

    The dataset itself is never changed. A manifest with the same name lies beside the file.
    """
    from rich.console import Console

    from ..loading import iter_threads

    if (design is Design.FRESH) != (corpus is not None):
        raise UserError(
            "the design fresh needs --corpus FILE with titles from outside the test set"
            if corpus is None
            else f"--corpus is for the design fresh only, found --design {design}"
        )
    console = Console(stderr=True)
    threads = list(iter_threads(dataset, config, audio=False))
    if not threads:
        raise UserError(f"{dataset}, configuration {config!r}: there are no threads in it")
    made = _draw(threads, design, distractors, seed, corpus)
    write_pools(out, made, threads, source=dataset)
    for note in made.notes:
        console.print(f"note: {note}", markup=False, highlight=False)
    sizes = [len(pool) for pool in made.pools.values()]
    console.print(
        f"{len(sizes)} pools of {min(sizes)} to {max(sizes)} candidates -> {out}, {manifest_path(out)}",
        markup=False, highlight=False, soft_wrap=True,
    )  # fmt: skip


def _draw(threads: list[Thread], design: Design, distractors: int, seed: int, corpus: Path | None) -> PoolSet:
    if corpus is not None:
        return fresh_pools(threads, read_corpus(corpus), distractors=distractors, seed=seed, track=_progress)
    draw = paper_pools if design is Design.PAPER else balanced_pools
    return draw(threads, distractors=distractors, seed=seed, track=_progress)


def _progress(groups: Groups) -> Iterable[tuple[str, list[Thread]]]:
    from rich.console import Console
    from rich.progress import track

    return track(groups, description="Drawing pools", console=Console(stderr=True))
