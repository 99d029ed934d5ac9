"""The command `compare`: compare systems with each other and with chance, from their prediction files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from ..base.tables import Table
from ..errors import UserError
from ..intervals import RESAMPLES
from ..runs.references import DEFAULT_DATASET
from ..scoring import Empty

Format = Literal["table", "json", "markdown", "latex"]


def compare(
    runs: Annotated[list[Path], typer.Argument(help="Prediction files, or run folders with predictions.jsonl.")],
    dataset: Annotated[
        str, typer.Option("--dataset", "-d", help="Directory of a built dataset, or a name.")
    ] = DEFAULT_DATASET,
    config: Annotated[str | None, typer.Option(help="Configuration of the dataset. [that of the first run]")] = None,
    metric: Annotated[list[str] | None, typer.Option(help="Measure, such as recall@20; may be repeated.")] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(help="Also print the differences per group of genre, subreddit, macro or a column."),
    ] = None,
    output_format: Annotated[Format, typer.Option("--format", help="Format of the output.")] = "table",
    empty: Annotated[
        Empty, typer.Option(help="Threads with an empty ground truth: count them as 0, or skip them.")
    ] = "zero",
    common: Annotated[bool, typer.Option("--common", help="Use only the threads that every system answered.")] = False,
    resamples: Annotated[
        int, typer.Option(min=1, max=1_000_000, help="Number of resamples and of sign flips.")
    ] = RESAMPLES,
    seed: Annotated[int, typer.Option(min=0, help="Seed; the same seed gives the same digits.")] = 0,
    alpha: Annotated[float, typer.Option(help="Level of the tests. Intervals cover 1 - alpha.")] = 0.05,
) -> None:
    """Compare two or more systems on the same threads: differences, tests, rank groups, chance.

    Two systems differ significantly if a paired t test, corrected by Holm over all pairs, has p <= alpha.
    """
    from ..base.output import print_json
    from ..base.renderers.latex import latex_tables
    from ..base.renderers.markdown import markdown_sections
    from ..catalogue.compare import CATALOGUE_HEADLINE, group_labels
    from ..catalogue.corpus import DIALOGUE, Corpus, load_labels
    from ..catalogue.read import check_columns, has_dialogues
    from ..runs.read import config_of
    from . import HEADLINE
    from . import compare as compare_systems
    from .load import load_runs
    from .tables import comparison_tables

    if len(runs) < 2:
        raise UserError(f"found {len(runs)} run, expected two or more; use `score` for a single run")
    references = load_labels(dataset, config_of(runs[0]) if config is None else config)
    check_columns(by or [], references)
    headline = CATALOGUE_HEADLINE if isinstance(references, Corpus) else HEADLINE
    metrics = list(dict.fromkeys(metric or headline))
    loaded = load_runs(runs, references, metrics, dialogues=empty if has_dialogues(references) else None)
    if has_dialogues(references):
        turns = "each with the mean of its turns; n counts dialogues, and every interval and test draws dialogues"
        typer.echo(f"{len(set(references.groups[DIALOGUE]))} dialogues are compared, {turns}", err=True)
    for path, run in zip(runs, loaded, strict=True):
        for warning in run.warnings:
            typer.echo(f"{path}: {warning}", err=True)
    comparison = compare_systems(
        [run.system for run in loaded],
        metrics,
        groups=group_labels(references, by or []),
        empty=empty,
        common_only=common,
        alpha=alpha,
        resamples=resamples,
        seed=seed,
    )
    if output_format == "json":
        print_json(comparison.to_dict())
    elif output_format == "markdown":
        typer.echo(markdown_sections(comparison_tables(comparison)), nl=False)
    elif output_format == "latex":
        typer.echo(latex_tables(comparison_tables(comparison)), nl=False)
    else:
        _print_tables(comparison_tables(comparison))


def _print_tables(tables: list[Table]) -> None:
    from rich.console import Console

    from ..base.renderers.terminal import rich_table

    # A pipe has no width; the tables are wide.
    console = Console(width=None if sys.stdout.isatty() else 200)
    for table in tables:
        console.print(rich_table(table), "")
