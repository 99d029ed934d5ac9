"""The command line of the metric: score, compare and check runs, write reports, and send runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from .compare.cli import compare
from .convert.cli import convert
from .errors import UserError, count, front_door, some
from .hub.cli import app as hub_app
from .intervals import CONFIDENCE, RESAMPLES
from .measures import DEFAULT_K, LARGEST_K
from .report.cli import report
from .runs.card_command import card
from .runs.references import DEFAULT_DATASET
from .scoring import Empty
from .submit.cli import submit

if TYPE_CHECKING:
    from rich.table import Table

    from .catalogue.read import ScoredDialogues
    from .runs.read import ScoredRun
    from .runs.run_card import RunCard

app = typer.Typer(
    name="musicrs-metric",
    help="Score rankings on MusiCRS. Each score comes with its chance level and its interval.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Predictions = Annotated[
    Path, typer.Option("--predictions", "-p", help="A predictions.jsonl, or the run folder that holds it.")
]
Config = Annotated[
    str | None, typer.Option("--config", help="Configuration of the dataset. [that of the run, or query_only]")
]


@app.command()
def score(
    predictions: Predictions,
    dataset: Annotated[
        str,
        typer.Option("--dataset", "-d", help="Directory of a built dataset, or a name (the installed one is musicrs)."),
    ] = DEFAULT_DATASET,
    config: Config = None,
    by: Annotated[
        list[str] | None,
        typer.Option("--by", help="Also score each group of genre, subreddit, macro or a column. May be repeated."),
    ] = None,
    k: Annotated[
        list[int] | None,
        typer.Option("--k", min=1, max=LARGEST_K, help="Cutoff; may be repeated. [1 5 10 20; on a catalogue also 100]"),
    ] = None,
    empty: Annotated[
        Empty, typer.Option(help="Threads with an empty ground truth: count them as 0, or skip them.")
    ] = "zero",
    confidence: Annotated[float, typer.Option(help="Coverage of the intervals; 0 for no intervals.")] = CONFIDENCE,
    resamples: Annotated[int, typer.Option(min=1, max=1_000_000, help="Number of resamples.")] = RESAMPLES,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the resamples.")] = 0,
    answered_only: Annotated[
        bool,
        typer.Option("--answered-only", help="Exclude the filled part of each ranking, so that an empty one scores 0."),
    ] = False,
    threads: Annotated[
        Path | None, typer.Option(help="Also write the scores of each thread to this file (.csv or .jsonl).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
    rules: Annotated[
        Literal["cpcd", "challenge2026", "he2023"] | None,
        typer.Option("--as", help="Score by the rules of another corpus, to reproduce its published numbers."),
    ] = None,
    output_format: Annotated[
        Literal["table", "latex", "sentence"],
        typer.Option("--format", help="Format of the output: a LaTeX table, or a sentence to paste into a paper."),
    ] = "table",
) -> None:
    """Score a run: recall, nDCG and MRR with interval, chance and ceiling."""
    from .base.output import print_json
    from .catalogue.read import check_columns, has_dialogues, score_dialogues
    from .runs.read import ScoredRun, read_run_on, score_predictions

    if rules is not None:
        from .catalogue.rules.score import score_as

        given = {"--by": by, "--k": k, "--threads": threads, "--answered-only": answered_only, "--config": config}
        unused = [option for option, value in given.items() if value]
        if unused:
            raise UserError(f"{', '.join(unused)}: not with --as {rules}, whose rules are fixed; leave it out")
        by_rules = score_as(rules, predictions, dataset)
        if as_json:
            print_json(by_rules.to_dict())
        else:
            _print(*by_rules.lines(str(predictions)))
        return
    if not 0 <= confidence < 1:
        raise UserError(f"--confidence is {confidence}, expected a number from 0 (no intervals) to below 1")
    files, references = read_run_on(predictions, dataset, config)
    check_columns(by or [], references)
    settings: dict[str, Any] = {
        "by": by or [], "empty": empty, "confidence": confidence or None, "resamples": resamples, "seed": seed,
        "answered_only": answered_only,
    }  # fmt: skip
    run: ScoredRun | ScoredDialogues
    if has_dialogues(references):
        run = score_dialogues(files.predictions, references, k=k, **settings)
    else:
        run = score_predictions(files.predictions, references, k=k or DEFAULT_K, **settings)
    if threads is not None:
        from .runs.thread_rows import write_thread_rows

        write_thread_rows(threads, run)
    if as_json:
        print_json(run.to_dict())
    elif output_format != "table":
        if not isinstance(run, ScoredRun):
            raise UserError(
                f"--format {output_format}: not for a corpus of dialogues; use --json, or `compare --format`"
            )
        _print_for_paper(run, files.card, str(predictions), output_format)
    else:
        _print(*run.lines(str(predictions)))


@app.command()
def validate(
    predictions: Predictions,
    dataset: Annotated[
        str | None, typer.Option("--dataset", "-d", help="Also check thread ids and titles against this dataset.")
    ] = None,
    config: Config = None,
) -> None:
    """Check a prediction file. Print every fault with line, field and thread (exit code 2), or a summary."""
    from .catalogue.read import has_dialogues, score_dialogues
    from .runs.predictions import PredictionError
    from .runs.read import read_run, read_run_on, score_predictions

    references = None
    try:
        if dataset is None:
            file = read_run(predictions).predictions
        else:
            files, references = read_run_on(predictions, dataset, config)
            file = files.predictions
    except PredictionError as error:
        for fault in error.faults:
            typer.echo(fault, err=True)
        more = error.n_faults - len(error.faults)
        typer.echo(
            f"refused: {count(error.n_faults, 'fault')}" + (f", {more} of them not shown" * (more > 0)), err=True
        )
        raise typer.Exit(2) from None
    _print(f"{file.path}: {count(len(file.predictions), 'prediction')}, no fault.")
    _print(*(f"Warning: {warning}" for warning in file.warnings))
    if references is not None and has_dialogues(references):
        _print(*score_dialogues(file, references, confidence=None).findings())
    elif references is not None:
        run = score_predictions(file.predictions, references, confidence=None)
        scores = run.scores
        missing = f": {some(run.missing)}" if run.missing else ""
        _print(
            f"{count(scores.n_unknown, 'title')} unknown to the pool, {scores.n_duplicate} repeated.",
            f"{scores.n_missing} of {len(references)} threads without a prediction{missing}.",
            *run.notes(),
        )


app.command()(card)
app.command()(convert)
app.command()(compare)
app.command()(report)
app.command()(submit)
app.add_typer(hub_app, name="hub")


@app.command()
def cite() -> None:
    """Print the BibTeX entries of the paper and of this software."""
    from .citation import BIBTEX, SOFTWARE_BIBTEX

    typer.echo(f"{BIBTEX}\n{SOFTWARE_BIBTEX}", nl=False)


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


def _print_for_paper(run: ScoredRun, card: RunCard | None, path: str, output_format: str) -> None:
    """Print scores as LaTeX or as a sentence. Warnings go to the error stream."""
    from .base.renderers.latex import latex_tables
    from .errors import plain
    from .runs.score_tables import paper_sentence, paper_tables

    title = path if card is None else plain(card.name)
    for note in run.notes():
        typer.echo(note, err=True)
    if output_format == "latex":
        typer.echo(latex_tables(paper_tables(run.scores, title)), nl=False)
    else:
        typer.echo(paper_sentence(run.scores, title))


def _print(*lines: str | Table) -> None:
    """Print tables and sentences. Sentences are no markup, and no line is broken for width."""
    from rich.console import Console

    # A pipe has no width of its own. The widest table fits in this one.
    console = Console() if sys.stdout.isatty() else Console(width=140)
    for line in lines:
        if isinstance(line, str):
            console.print(line, markup=False, highlight=False, soft_wrap=True)
        else:
            console.print(line)
