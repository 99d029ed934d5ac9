"""`python -m builder_scripts refine`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from musicrs_metric.errors import UserError, plain


class KindName(StrEnum):
    """What may be recommended."""

    song = "song"
    artist = "artist"
    album = "album"


def refine(
    work: Annotated[Path, typer.Option(help="Work folder of the corpus.")],
    kind: Annotated[
        list[KindName] | None, typer.Option(help="What may be recommended; may be repeated. [song]")
    ] = None,
    min_answers: Annotated[int, typer.Option(min=1, help="Answers that a thread needs.")] = 2,
    max_answers: Annotated[int, typer.Option(min=1, help="Answers that a thread may have.")] = 30,
    top: Annotated[int, typer.Option(min=1, help="So many answers, the most upvoted, are the ground truth.")] = 10,
    genre: Annotated[
        list[str] | None,
        typer.Option(metavar="SUBREDDIT=GENRE", help="Genre of a further subreddit, known or new; may be repeated."),
    ] = None,
) -> None:
    """Bring titles to one spelling and give each thread its ground truth: -> gold/corpus.jsonl, gold/merges.csv.

    merges.csv lists titles that look alike and what was decided. Change a decision or a spelling, add lines, and run
    again: the lines of the file always count.
    """
    from rich.console import Console
    from rich.progress import track

    from ..layout import Work
    from ..pipeline.stage import tell
    from .run import run
    from .stage import Rules

    rules = Rules([name.value for name in kind or [KindName.song]], min_answers, max_answers, top, _genres(genre or []))
    console = Console(stderr=True)
    manifest, new = run(Work(work), rules, lambda titles: track(titles, "Comparing titles", console=console))
    tell(manifest, new, Work(work).corpus)


def _genres(further: list[str]) -> dict[str, str]:
    from .genres import genre_table

    pairs = dict.fromkeys(further)
    for pair in pairs:
        if "=" not in pair:
            raise UserError(f"--genre {plain(pair)}: expected SUBREDDIT=GENRE, such as country=Country")
    return genre_table({name: genre for name, _, genre in (pair.partition("=") for pair in pairs)}, "--genre")
