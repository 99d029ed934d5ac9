"""The command line of the metric: score a run, check a prediction file, install the `evaluate` module."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .compare.cli import compare
from .errors import UserError, count, front_door, some
from .hub.cli import app as hub_app
from .intervals import CONFIDENCE, RESAMPLES
from .measures import DEFAULT_K, LARGEST_K
from .options import By, EmptyRule
from .report.cli import report
from .runs.card_command import card
from .runs.references import DEFAULT_DATASET
from .submit.cli import submit

if TYPE_CHECKING:
    from rich.console import Console

app = typer.Typer(
    name="musicrs-metric",
    help="Score rankings on MusiCRS, each score with its chance level and its interval.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Dataset = Annotated[
    str, typer.Option("--dataset", "-d", help="Directory of a built dataset, or a name (the installed one is musicrs).")
]
Config = Annotated[
    str | None, typer.Option("--config", help="Configuration of the dataset. [that of the run, or query_only]")
]


@app.command()
def score(
    predictions: Annotated[
        Path, typer.Option("--predictions", "-p", help="A predictions.jsonl, or the run folder that holds it.")
    ],
    dataset: Dataset = DEFAULT_DATASET,
    config: Config = None,
    by: Annotated[list[By] | None, typer.Option("--by", help="Also score each group; may be repeated.")] = None,
    k: Annotated[
        list[int] | None, typer.Option("--k", min=1, max=LARGEST_K, help="Cutoff; may be repeated. [1 5 10 20]")
    ] = None,
    empty: Annotated[EmptyRule, typer.Option(help="Threads with no right answer: score 0, or skip.")] = EmptyRule.zero,
    confidence: Annotated[float, typer.Option(help="Coverage of the intervals; 0 for no intervals.")] = CONFIDENCE,
    resamples: Annotated[int, typer.Option(min=1, max=1_000_000, help="Bootstrap resamples.")] = RESAMPLES,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the bootstrap.")] = 0,
    answered_only: Annotated[
        bool,
        typer.Option("--answered-only", help="Leave out what was appended to an answer: an empty one scores 0."),
    ] = False,
    threads: Annotated[Path | None, typer.Option(help="Also write every thread's scores (.csv or .jsonl).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON in place of tables.")] = False,
) -> None:
    """Score a run: recall, nDCG and MRR with interval, chance and ceiling."""
    from .base.output import print_json
    from .runs.read import config_of, score_predictions
    from .runs.references import load_references
    from .runs.score_tables import filled_sentence, group_table, score_table, sentences

    if not 0 <= confidence < 1:
        raise UserError(f"--confidence is {confidence}, expected a number from 0 (no intervals) to below 1")
    references = load_references(dataset, config_of(predictions) if config is None else config)
    run = score_predictions(
        predictions,
        references,
        by=[grouping.value for grouping in by or []],
        k=k or DEFAULT_K,
        empty=empty.value,
        confidence=confidence or None,
        resamples=resamples,
        seed=seed,
        answered_only=answered_only,
    )
    if threads is not None:
        from .runs.thread_rows import write_thread_rows

        write_thread_rows(threads, run)
    if as_json:
        print_json(run.to_dict())
        return
    console = _console()
    console.print(score_table(run.scores, str(predictions), run.filled))
    if run.filled is not None:
        _say(console, filled_sentence(run.filled))
    if run.answered_only:
        _say(console, "What was appended to the answers is left out: an empty answer scores 0.")
    for grouping, groups in run.scores.by.items():
        console.print(group_table(groups, grouping))
    for sentence in sentences(run.scores):
        _say(console, sentence)
    if run.missing:
        _say(console, f"Without a prediction: {some(run.missing)}.")
    for oddity in run.oddities.sentences() if run.oddities else ():
        _say(console, oddity)
    for warning in run.warnings:
        _say(console, f"Warning: {warning}")


@app.command()
def validate(
    predictions: Annotated[
        Path, typer.Option("--predictions", "-p", help="A predictions.jsonl, or the run folder that holds it.")
    ],
    dataset: Annotated[
        str | None, typer.Option("--dataset", "-d", help="Check thread ids and titles against this dataset as well.")
    ] = None,
    config: Config = None,
) -> None:
    """Check a prediction file: every fault with line, field and thread (exit code 2), or what it holds."""
    from .runs.predictions import PredictionError
    from .runs.read import config_of, read_run, score_predictions
    from .runs.references import load_references

    references = (
        None if dataset is None else load_references(dataset, config_of(predictions) if config is None else config)
    )
    try:
        found = read_run(predictions, references).predictions
    except PredictionError as error:
        for fault in error.faults:
            typer.echo(fault, err=True)
        more = error.n_faults - len(error.faults)
        typer.echo(
            f"refused: {count(error.n_faults, 'fault')}" + (f", {more} of them not shown" * (more > 0)), err=True
        )
        raise typer.Exit(2) from None
    console = _console()
    _say(console, f"{found.path}: {count(len(found.predictions), 'prediction')}, no fault.")
    for warning in found.warnings:
        _say(console, f"Warning: {warning}")
    if references is not None:
        run = score_predictions(found, references, confidence=None)
        scores = run.scores
        _say(console, f"{count(scores.n_unknown, 'title')} unknown to the pool, {scores.n_duplicate} repeated.")
        missing = f": {some(run.missing)}" if run.missing else ""
        _say(console, f"{scores.n_missing} of {len(references)} threads without a prediction{missing}.")
        for oddity in run.oddities.sentences() if run.oddities else ():
            _say(console, oddity)


app.command()(card)
app.command()(compare)
app.command()(report)
app.command()(submit)
app.add_typer(hub_app, name="hub")


@app.command()
def install() -> None:
    """Install the metric, so that `evaluate.load("musicrs")` works offline from any directory."""
    from .hub.install import install_metric

    typer.echo(install_metric())


@app.command()
def export(folder: Annotated[Path, typer.Argument(help="Folder to write.")]) -> None:
    """Write the folder of a metric Space: card, app, requirements, module and core."""
    from .hub.install import export_space

    for file in export_space(folder):
        typer.echo(file)


def main() -> None:
    """Run the command line."""
    front_door(app)


def _console() -> Console:
    from rich.console import Console

    # A pipe has no width of its own; the widest table fits in this one.
    return Console() if sys.stdout.isatty() else Console(width=140)


def _say(console: Console, text: str) -> None:
    """Print a sentence as it stands: file names and titles are no markup, and no line is broken for width."""
    console.print(text, markup=False, highlight=False, soft_wrap=True)
