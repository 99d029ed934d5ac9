"""The command line of the baselines: run a system, list the systems, show them all on the mini dataset."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from musicrs_metric.errors import front_door
from musicrs_metric.runs.run_card import Modality

from .commands.tracking import Tracker

if TYPE_CHECKING:
    from rich.console import Console

app = typer.Typer(
    name="baselines",
    help=(
        "Run recommendation systems on MusiCRS. In several processes: accelerate launch --multi_gpu --num_processes 2 "
        "-m baselines run ..., or torchrun --nproc_per_node 2 -m baselines run ...; both on CPUs too."
    ),
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


class MissingAudioName(StrEnum):
    """What is done with a thread that has no clip."""

    zero = "zero"
    text = "text"
    error = "error"


class ControlName(StrEnum):
    """Which input of a control run is another thread's."""

    shuffled_audio = "shuffled-audio"
    shuffled_query = "shuffled-query"


class FusionName(StrEnum):
    """How two rankings become one."""

    rrf = "rrf"
    zscore = "zscore"


class RuleName(StrEnum):
    """How kept answers are read again."""

    published = "published"


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def run(
    context: typer.Context,
    model: Annotated[str, typer.Option(help="A name that `list` shows, or package.module:Class for your own.")],
    out: Annotated[Path, typer.Option(help="Folder of the run; a run that was stopped there goes on.")],
    modality: Annotated[Modality | None, typer.Option(help="May be left out where the system has one only.")] = None,
    dataset: Annotated[
        str,
        typer.Option("--dataset", "-d", help="Directory of a built dataset, or a name (the installed one is musicrs)."),
    ] = "musicrs",
    pools: Annotated[str, typer.Option(help="Which candidate pools, where the dataset has several.")] = "published",
    seed: Annotated[int, typer.Option(min=0, help="Seed of everything random.")] = 0,
    limit: Annotated[int | None, typer.Option(min=1, help="Only that many threads; run again to finish.")] = None,
    batch_size: Annotated[
        int | None,
        typer.Option(min=1, help="Threads at once; changes no result, but near-ties of systems that generate."),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Show what would be run, the first prompt and an estimate of memory; stop."),
    ] = False,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Rank threads again that failed.")] = False,
    missing_audio: Annotated[
        MissingAudioName | None,
        typer.Option(
            help="A thread without clips: 'zero', scored 0 (default in audio_only); 'text', ranked by the query "
            "(default in audio_query); 'error', stop."
        ),
    ] = None,
    shuffles: Annotated[
        int | None,
        typer.Option(min=2, help="Rank every pool in that many seeded orders: mean score, and what the order does."),
    ] = None,
    control: Annotated[
        ControlName | None,
        typer.Option(
            help="Give each thread the clips, or the query, of another of its genre: the score that remains is no "
            "grounding. `python -m musicrs_metric compare RUN CONTROL_RUN` sets it beside the plain run's."
        ),
    ] = None,
    name: Annotated[str | None, typer.Option(help="What tables are to call the run.")] = None,
    tracker: Annotated[Tracker, typer.Option(help="Where to log the scores.")] = Tracker.none,
    cache: Annotated[Path | None, typer.Option(help="Folder for embeddings; [HF_HOME/assets/musicrs]")] = None,
) -> None:
    """Run a system: writes predictions.jsonl and run.json, and prints the score. `show MODEL` lists its own options."""
    from .commands.summary import print_result, print_shuffled
    from .commands.tracking import track
    from .data import load_data
    from .launch import build_system, default_cache
    from .run.control import swap_inputs
    from .run.dry_run import dry_run as describe_run
    from .run.processes import launched
    from .run.reporter import Reporter
    from .run.runner import Plan, Result
    from .run.runner import run as run_plan
    from .run.shuffles import Shuffled, run_shuffles

    system = build_system(
        model,
        modality,
        context.args,
        seed,
        cache or default_cache(),
        missing_audio.value if missing_audio else None,
    )
    processes = launched()
    data = load_data(dataset, system.context.modality, pools)
    if control is not None:
        data = swap_inputs(data, control.value, system.context)
    plan = Plan(
        system=system,
        system_name=model,
        data=data,
        out=out,
        name=name,
        limit=limit,
        batch_size=batch_size,
        retry_failed=retry_failed,
    )
    if dry_run:
        if processes.is_main:
            for line in describe_run(plan):
                typer.echo(line)
        processes.leave()
        return
    reporter = Reporter(_console(stderr=True), bar=processes.is_main)
    finished: Result | Shuffled | None
    if shuffles is None:
        finished = run_plan(plan, processes, reporter)
    else:
        finished = run_shuffles(plan, shuffles, processes, reporter)
    processes.leave()
    if finished is None:
        return
    where = (data.references, str(out))
    if isinstance(finished, Shuffled):
        scores = print_shuffled(_console(), finished, *where)
    else:
        scores = print_result(_console(), finished, *where)
    track(tracker, finished.card, scores)


@app.command()
def fuse(
    run_a: Annotated[Path, typer.Argument(help="A run folder.")],
    run_b: Annotated[Path, typer.Argument(help="Another, on the same pools.")],
    out: Annotated[Path, typer.Option(help="Folder for the result, a run like any other; it must be empty.")],
    method: Annotated[FusionName, typer.Option(help="Reciprocal ranks, or standardised scores.")] = FusionName.rrf,
    weight: Annotated[float, typer.Option(min=0, max=1, help="Share of the first run.")] = 0.5,
    name: Annotated[str | None, typer.Option(help="What tables are to call the result.")] = None,
) -> None:
    """Fuse two runs into one without running a model, such as one of words and one of sound."""
    from .fusion import fuse_runs

    card = fuse_runs(run_a, run_b, out, method.value, weight, name)
    console = _console()
    console.print(f"{card.name} ({card.modality}) lies in {out}.", markup=False, highlight=False, soft_wrap=True)
    score = f"python -m musicrs_metric score --predictions {out} --dataset {card.dataset}"
    console.print(f"Score it with: {score}", markup=False, highlight=False, soft_wrap=True)


@app.command()
def reread(
    run: Annotated[Path, typer.Argument(help="A run folder with answers.jsonl.")],
    rule: Annotated[RuleName, typer.Option(help="The reading rule: published splits answers at commas.")],
    dataset: Annotated[
        str | None,
        typer.Option("--dataset", "-d", help="Directory or name of the run's dataset; [the one on its run card]"),
    ] = None,
) -> None:
    """Score the kept answers of a run by another reading rule, beside the run's own score. It writes nothing."""
    from .commands.reread import print_reread
    from .commands.reread import reread as read_again

    print_reread(_console(), run, read_again(run, rule.value, dataset))


@app.command("list")
def list_systems() -> None:
    """Show every system: what it reads, what it needs, and whether it can run here."""
    from .commands.catalogue import systems_table

    _console().print(systems_table())


@app.command()
def show(model: Annotated[str, typer.Argument(help="A name that `list` shows, or package.module:Class.")]) -> None:
    """Show one system: how it ranks, what to know of its score, its model, its options."""
    from .commands.catalogue import system_lines

    for line in system_lines(model):
        typer.echo(line)


@app.command()
def doctor() -> None:
    """Print the environment for a bug report, and which systems can run here and what each lacks."""
    from .commands.doctor import environment_lines, systems_table

    for line in environment_lines():
        typer.echo(line)
    _console().print(systems_table())


@app.command()
def demo(out: Annotated[Path, typer.Option(help="Folder for the mini dataset and the runs.")]) -> None:
    """Build the embedded mini dataset, run every baseline on it, and end in one table."""
    from .commands.demo import run_demo

    run_demo(out, _console(), _console(stderr=True))


def main() -> None:
    """Run the command line."""
    front_door(app)


def _console(*, stderr: bool = False) -> Console:
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    # A pipe has no width of its own; the widest table fits in this one.
    return Console(stderr=stderr) if stream.isatty() else Console(stderr=stderr, width=140)
