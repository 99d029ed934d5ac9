"""The command `musicrs_metric report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..intervals import RESAMPLES
from ..runs.references import DEFAULT_DATASET


def report(
    runs: Annotated[list[Path], typer.Argument(help="Run folders, each with run.json and predictions.jsonl.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder for the report. Files of an earlier report are replaced.")
    ],
    dataset: Annotated[
        str, typer.Option("--dataset", "-d", help="Directory or name of the dataset of the runs.")
    ] = DEFAULT_DATASET,
    case: Annotated[
        list[str] | None,
        typer.Option(
            help="Thread to show with the first 20 ranks of every system; may be repeated. [two chosen threads]"
        ),
    ] = None,
    reported: Annotated[
        bool | None,
        typer.Option(
            "--reported/--no-reported",
            help="Add the figures of the paper. [if the dataset is the published one]",
            show_default=False,
        ),
    ] = None,
    metric: Annotated[str, typer.Option(help="Measure of Figure 4, by genre and system, such as recall@20.")] = "mrr",
    seed: Annotated[int, typer.Option(min=0, help="Seed of intervals and tests.")] = 0,
    resamples: Annotated[int, typer.Option(min=1, max=1_000_000, help="Number of resamples.")] = RESAMPLES,
    partial: Annotated[
        bool, typer.Option("--partial", help="Accept runs that lack predictions; these count as 0.")
    ] = False,
) -> None:
    """Write a report on runs: HTML, Markdown, figures, and one JSON with every number."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from .build import build_report
    from .write import write_report

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        # Reading each run, comparing, two figures, writing.
        task = progress.add_task("reading", total=len(runs) + 4)

        def step(what: str) -> None:
            progress.update(task, description=what, advance=1)

        built = build_report(
            runs, dataset, cases=case or (), reported=reported, metric=metric, seed=seed, resamples=resamples,
            partial=partial, step=step,
        )  # fmt: skip
        files = write_report(built, out, step)
    page = next(path for path in files if path.suffix == ".html")
    typer.echo(f"{page} ({len(files)} files in {out})")
