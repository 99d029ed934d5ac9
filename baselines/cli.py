"""The command line of the baselines."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from musicrs_metric.errors import UserError, front_door
from musicrs_metric.runs.run_card import Modality

if TYPE_CHECKING:
    from rich.console import Console

app = typer.Typer(
    name="baselines",
    help=(
        "Run recommendation systems on MusiCRS. In several processes: accelerate launch --multi_gpu --num_processes 2 "
        "-m baselines run ..., or torchrun --nproc_per_node 2 -m baselines run ...; both also work on CPUs."
    ),
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def run(
    context: typer.Context,
    model: Annotated[
        str,
        typer.Option(help="A name that `list` shows, package.module:Class for your own system, or a recipe (.toml)."),
    ],
    out: Annotated[Path, typer.Option(help="Folder of the run. A stopped run resumes there.")],
    modality: Annotated[
        Modality | None, typer.Option(help="Optional if the system supports only one modality.")
    ] = None,
    dataset: Annotated[
        str,
        typer.Option("--dataset", "-d", help="Directory of a built dataset, or a name (the installed one is musicrs)."),
    ] = "musicrs",
    pools: Annotated[str, typer.Option(help="Pool design, if the dataset has several.")] = "published",
    seed: Annotated[int, typer.Option(min=0, help="Seed of all random choices.")] = 0,
    limit: Annotated[
        int | None,
        typer.Option(min=1, help="Rank only the first N threads. The same command without it ranks the rest."),
    ] = None,
    batch_size: Annotated[
        int | None,
        typer.Option(
            min=1, help="Threads per batch. Results stay the same, except for near-ties of generative systems."
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Print the planned run, the first prompt and an estimate of memory, then stop."),
    ] = False,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Rank failed threads again.")] = False,
    missing_audio: Annotated[
        Literal["zero", "text", "error"] | None,
        typer.Option(
            help="Policy for threads without clips: 'zero' scores 0 (default in audio_only), 'text' ranks by the query "
            "(default in audio_query), 'error' stops the run."
        ),
    ] = None,
    shuffles: Annotated[
        int | None,
        typer.Option(min=2, help="Rank every pool in N seeded orders. Prints the mean score and effects of the order."),
    ] = None,
    control: Annotated[
        Literal["shuffled-audio", "shuffled-query"] | None,
        typer.Option(
            help="Control run: each thread gets the clips or the query of another thread of its genre. The score that "
            "remains does not come from this input. `python -m musicrs_metric compare RUN CONTROL_RUN` compares both."
        ),
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the run in tables.")] = None,
    tracker: Annotated[Literal["none", "trackio"], typer.Option(help="Experiment tracker for the scores.")] = "none",
    cache: Annotated[Path | None, typer.Option(help="Folder for embeddings; [HF_HOME/assets/musicrs].")] = None,
) -> None:
    """Run a system: write predictions.jsonl and run.json, and print the score.

    `show MODEL` lists the options of a system.
    """
    from musicrs_metric.catalogue.corpus import has_catalogue

    from .catalogue.run import print_run, run_on_catalogue
    from .commands.summary import print_result, print_shuffled
    from .data import Data, load_data
    from .launch import build_system, default_cache
    from .recipes import Part, is_recipe, read_recipe
    from .run.control import swap_inputs
    from .run.dry_run import dry_run as describe_run
    from .run.processes import launched
    from .run.recipe import describe_recipe, run_recipe
    from .run.reporter import Reporter
    from .run.runner import Plan, RunResult
    from .run.runner import run as run_plan
    from .run.shuffles import ShuffledResult, run_shuffles

    if has_catalogue(dataset):
        given = {
            "--pools": pools != "published", "--batch-size": batch_size, "--dry-run": dry_run, "--control": control,
            "--retry-failed": retry_failed, "--missing-audio": missing_audio, "--shuffles": shuffles,
            "--tracker": tracker != "none", "--modality": modality not in (None, "query_only"),
        }  # fmt: skip
        unused = [*(option for option, value in given.items() if value), *context.args]
        if unused:
            raise UserError(f"{', '.join(unused)}: not for a corpus whose systems rank a catalogue; leave it out")
        card, scored = run_on_catalogue(model, dataset, out, seed=seed, limit=limit, name=name, cache=cache)
        print_run(_console(), card, scored, str(out))
        return

    def plan_of(part: Part, folder: Path, name: str | None = None) -> Plan:
        folder_cache = cache or default_cache()
        system = build_system(part.model, part.modality or modality, part.arguments, seed, folder_cache, missing_audio)
        data: Data = load_data(dataset, system.context.modality, pools)
        if control is not None:
            data = swap_inputs(data, control, system.context)
        return Plan(
            system=system,
            system_name=part.model,
            data=data,
            out=folder,
            name=name,
            limit=limit,
            batch_size=batch_size,
            retry_failed=retry_failed,
        )

    recipe = read_recipe(model, context.args) if is_recipe(model) else None
    if recipe is not None and shuffles is not None:
        raise UserError(f"--shuffles: {model} fuses several runs; run its parts with it, then `fuse` them")
    plan = plan_of(Part("", model, tuple(context.args)), out, name) if recipe is None else None
    processes = launched()
    if dry_run:
        if processes.is_main:
            for line in describe_run(plan) if plan else describe_recipe(recipe, out, plan_of) if recipe else ():
                typer.echo(line)
        processes.leave()
        return
    reporter = Reporter(_console(stderr=True), bar=processes.is_main)
    result: RunResult | ShuffledResult | None
    if plan is None:
        result = run_recipe(recipe, out, plan_of, processes, reporter, name) if recipe else None
    elif shuffles is None:
        result = run_plan(plan, processes, reporter)
    else:
        result = run_shuffles(plan, shuffles, processes, reporter)
    processes.leave()
    if result is None:
        return
    data = plan.data if plan else load_data(dataset, result.card.modality, pools)
    if isinstance(result, ShuffledResult):
        scores = print_shuffled(_console(), result, data.references, str(out))
    else:
        scores = print_result(_console(), result, data.references, str(out))
    if tracker != "none":
        from .commands.tracking import track_with_trackio

        track_with_trackio(result.card, scores)


@app.command()
def fuse(
    runs: Annotated[list[Path], typer.Argument(help="At least two run folders, on the same pools.")],
    out: Annotated[Path, typer.Option(help="Folder of the fused run. It must be empty.")],
    method: Annotated[
        Literal["zscore", "rrf", "rank"] | None,
        typer.Option(
            help="Standardised scores, reciprocal ranks, or mean rank. [default: zscore; rrf if a run has no scores]",
            show_default=False,
        ),
    ] = None,
    weight: Annotated[
        list[float] | None,
        typer.Option(min=0, help="Weight of a run, once per run in their order. [default: equal weights]"),
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the fused run in tables.")] = None,
) -> None:
    """Fuse runs into one without running a model, such as runs on text and a run on audio.

    For two runs, a single --weight from 0 to 1 is that of the first. The second has the rest.
    """
    from .fusion import fuse_runs

    card = fuse_runs(runs, out, method, weight, name)
    console = _console()
    if note := card.extra.get("method_note"):
        console.print(note, markup=False, highlight=False, soft_wrap=True)
    console.print(f"{card.name} ({card.modality}) is in {out}.", markup=False, highlight=False, soft_wrap=True)
    score = f"python -m musicrs_metric score --predictions {out} --dataset {card.dataset}"
    console.print(f"Score it with: {score}", markup=False, highlight=False, soft_wrap=True)


@app.command()
def reread(
    run: Annotated[Path, typer.Argument(help="A run folder with answers.jsonl.")],
    rule: Annotated[
        Literal["published"], typer.Option(help="Reading rule. The published rule splits answers at commas.")
    ],
    dataset: Annotated[
        str | None,
        typer.Option("--dataset", "-d", help="Directory or name of the dataset of the run; [the one on its card]."),
    ] = None,
) -> None:
    """Score the recorded answers of a run by another reading rule, next to its own score. Nothing is written."""
    from .commands.reread import print_reread
    from .commands.reread import reread as read_again

    print_reread(_console(), run, read_again(run, rule, dataset))


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def cards(
    context: typer.Context,
    model: Annotated[str, typer.Option(help="A language model that `list` shows, such as causal_lm or openai_api.")],
    out: Annotated[Path, typer.Option(help="JSON Lines file. A stopped command resumes there.")],
    dataset: Annotated[
        str, typer.Option("--dataset", "-d", help="Directory of a built dataset, or a name.")
    ] = "musicrs",
    pools: Annotated[str, typer.Option(help="Pool design, if the dataset has several.")] = "published",
    limit: Annotated[int | None, typer.Option(min=1, help="Ask for at most N titles, for a trial.")] = None,
    batch_size: Annotated[int, typer.Option(min=1, help="Titles per batch.")] = 8,
) -> None:
    """Let a language model write one line of knowledge per title and subreddit, for the system `cards`.

    `show MODEL` lists the options of a model. The lines depend on titles and subreddits only.
    """
    from .commands.cards import print_cards

    print_cards(_console(), model, context.args, out, dataset, pools, limit, batch_size)


@app.command("list")
def list_systems() -> None:
    """List all systems, with the data they read, their requirements, and whether they can run here."""
    from .commands.catalogue import systems_table

    _console().print(systems_table())


@app.command()
def show(model: Annotated[str, typer.Argument(help="A name that `list` shows, or package.module:Class.")]) -> None:
    """Show one system: its method, notes on its score, its model and its options."""
    from .commands.catalogue import system_lines
    from .recipes import is_recipe, read_recipe, recipe_lines

    for line in recipe_lines(read_recipe(model)) if is_recipe(model) else system_lines(model):
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
    """Build the embedded mini dataset, run every baseline on it, and print one table."""
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
