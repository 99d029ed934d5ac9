"""Command line of the pipeline: one command per stage, in the order in which the stages run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from musicrs_dataset.audio.fetch.options import Limit, RetryFailed
from musicrs_metric.errors import front_door

from .annotate.cli import annotate
from .audio.options import AudioOptions
from .layout import Work
from .llm.options import ExtractOptions, LlmOptions, QueriesOptions
from .mine.cli import mine
from .pipeline.option_command import WorkFolder, option_command
from .pipeline.stage import StageResult, exiting_early, list_progress, print_result, progress
from .pools.options import PoolsOptions
from .refine.options import RefineOptions
from .release.options import ReleaseOptions
from .threads.options import ThreadsOptions

if TYPE_CHECKING:
    from types import ModuleType

app = typer.Typer(
    name="builder_scripts",
    help="Make MusiCRS from Reddit dumps. Every stage reads and writes one work folder and can be stopped and resumed.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
Estimate = Annotated[bool, typer.Option("--estimate", help="Print requests, tokens and price, and ask nothing.")]

app.command()(mine)


@app.command()
@option_command(ThreadsOptions)
def threads(work: WorkFolder, options: ThreadsOptions) -> None:
    """Find the threads with a YouTube link and enough first-level replies. Each dropped row has one reason."""
    from rich.console import Console

    from .threads.run import run

    with Console(stderr=True).status("starting") as status:
        result = run(Work(work), options, status.update)
    _print_threads(result, Work(work))


@app.command()
@option_command(ExtractOptions)
def extract(work: WorkFolder, options: ExtractOptions, *, estimate: Estimate = False) -> None:
    """Find the songs, artists and albums that posts and replies name: silver/ -> gold/entities.parquet."""
    from .extract import run

    _ask_model(run, work, options, estimate=estimate)


@app.command()
@option_command(QueriesOptions)
def queries(work: WorkFolder, options: QueriesOptions, *, estimate: Estimate = False) -> None:
    """Write the query of each post. It needs no context and names no answer: -> gold/queries.parquet."""
    from .queries import run

    _ask_model(run, work, options, estimate=estimate)


@app.command()
@option_command(RefineOptions)
def refine(work: WorkFolder, options: RefineOptions) -> None:
    """Bring titles to one spelling and give each thread its ground truth: -> gold/corpus.jsonl, gold/merges.csv.

    merges.csv lists titles that look alike, each with a decision. Change a decision or a spelling, or add lines, and
    run the command again. The lines of the file always count.
    """
    from .refine.run import run

    print_result(run(Work(work), options, list_progress("Comparing titles")), Work(work).corpus)


@app.command()
@option_command(AudioOptions)
def audio(work: WorkFolder, options: AudioOptions, *, limit: Limit = None, retry_failed: RetryFailed = False) -> None:
    """Download the audio of every link, each video once, and list the status of each: -> audio/, gold/videos.jsonl.

    Run it before annotation, so that annotators see which videos are gone, and once more for the links that they add.
    Exit code 75 means that it stopped early: a rate limit, ten equal failures in a row, a full disk or a network that
    is down. Start it again later; it resumes there.
    """
    from .audio.run import run

    with exiting_early():
        result = run(Work(work), options, limit=limit, retry_failed=retry_failed, track=progress("Fetching"))
        print_result(result, Work(work).videos)


app.add_typer(annotate)


@app.command()
@option_command(PoolsOptions)
def pools(
    work: WorkFolder,
    options: PoolsOptions,
    *,
    unjudged: Annotated[bool, typer.Option("--unjudged", help="Take the corpus without annotation.")] = False,
) -> None:
    """Apply the labels of the annotators and draw candidate pools: -> gold/settled.jsonl, gold/pools/."""
    from .pools.run import run

    result = run(Work(work), options, unjudged=unjudged, track=list_progress("Drawing pools"))
    print_result(result, Work(work).pools)


@app.command()
@option_command(ReleaseOptions)
def release(work: WorkFolder, options: ReleaseOptions) -> None:
    """Make the dataset with its card, datasheet and figures: -> release/NAME/, ready for `load_dataset` and the Hub."""
    from .release.run import folder_of, run

    print_result(run(Work(work), options, list_progress("Writing")), folder_of(Work(work), options))


@app.command("all")
def run_all(
    config: Annotated[Path, typer.Option(metavar="FILE", help="Settings of the run, in YAML; see docs/building.md.")],
) -> None:
    """Run all stages, from dumps to a dataset that loads and the score of a system.

    The command checks all settings before it starts. Finished stages are skipped: to resume a stopped run, repeat the
    command. Questions that a model failed to answer are asked again.
    """
    from .pipeline.steps import run

    run(config)


def main() -> None:
    """Run the command line."""
    front_door(app)


def _ask_model(stage: ModuleType, work: Path, options: LlmOptions, *, estimate: bool) -> None:
    """Run a stage that asks a language model, or print its estimate."""
    from rich.console import Console

    console = Console(stderr=True)
    if estimate:
        typer.echo(stage.estimate(Work(work), options, console))
        return
    with exiting_early(f"{stage.STAGE}: "):
        result: StageResult = stage.run(Work(work), options, console)
        print_result(result, Work(work).gold / result.manifest.outputs[0].path)


def _print_threads(result: StageResult, work: Work) -> None:
    """Print the counts of `threads`: rows that become other rows, and the signs of withdrawn texts."""
    manifest = result.manifest
    for kind, kept_as in (("submissions", "threads"), ("comments", "replies")):
        counts = manifest.counts[kind]
        typer.echo(f"{counts.seen:,} {kind} -> {counts.kept:,} {kept_as}")
        for reason, n in counts.dropped.items():
            signs = manifest.counts[f"deleted {kind}"].dropped if reason == "deleted" else {}
            by_sign = ", ".join(f"{sign} {n_sign:,}" for sign, n_sign in signs.items())
            typer.echo(f"  {n:>12,} {reason}" + (f" ({by_sign})" if by_sign else ""))
    for note in manifest.notes:
        typer.echo(f"note: {note}", err=True)
    typer.echo(f"{'made' if result.is_new else 'nothing to do:'} {work.silver}")
