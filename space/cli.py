"""Command line `python -m space`: serve the leaderboard, recompute its scores, push it to the Hub."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from musicrs_metric.errors import UserError, count, front_door, plain, show

from .settings import LeaderboardSettings, from_environment

app = typer.Typer(
    name="space",
    help="Leaderboard of MusiCRS.",
    add_completion=False,
    pretty_exceptions_enable=False,
)

Dataset = Annotated[
    str | None, typer.Option("--dataset", "-d", help="Directory of a built dataset, or its name. [MUSICRS_DATASET]")
]
Results = Annotated[Path | None, typer.Option("--results", help="Folder of the submissions. [RESULTS_DIR, or results]")]
_SHOWN = 20


@app.callback(invoke_without_command=True)
def serve(
    context: typer.Context,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = 7860,
    host: Annotated[str, typer.Option(help="IP address to listen on; 0.0.0.0 for all.")] = "127.0.0.1",
    results: Results = None,
    dataset: Dataset = None,
) -> None:
    """Serve the leaderboard. Stop it with Ctrl-C at any time; no submission is lost."""
    if context.invoked_subcommand is not None:
        return
    from .app import serve as serve_app

    serve_app(_settings(results, dataset), host=host, port=port)


@app.command()
def recompute(results: Results = None, dataset: Dataset = None) -> None:
    """Recompute every score from the stored predictions. Exit code 1: a score differs, or a file is set aside."""
    from rich.console import Console
    from rich.progress import Progress

    from .board.cache import Cache
    from .board.data import load_data
    from .factory import CACHE, SUBMISSIONS
    from .recompute import recompute as recompute_all
    from .store.local import LocalStore

    settings = _settings(results, dataset)
    if not (settings.results / SUBMISSIONS).is_dir():
        raise UserError(
            f"{settings.results}: found no folder {SUBMISSIONS}; name the folder of the leaderboard with --results"
        )
    data = load_data(settings.dataset)
    store = LocalStore(settings.results / SUBMISSIONS)
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("scoring", total=None)
        result = recompute_all(
            data,
            store,
            Cache(settings.results / CACHE),
            lambda n, total: progress.update(task, completed=n, total=total),
        )
    for difference in result.differences[:_SHOWN]:
        name = plain(difference.entry.card.name)
        before, now = show(difference.before), show(difference.now)
        typer.echo(f"{name} ({difference.entry.key[:12]}): {difference.what} was {before}, is {now}")
    if len(result.differences) > _SHOWN:
        typer.echo(f"and {count(len(result.differences) - _SHOWN, 'more difference')}")
    for file in result.set_aside:
        typer.echo(f"set aside: {file.file if file.file.isprintable() else show(file.file)}: {file.reason}")
    compared = result.n - result.n_new
    typer.echo(
        f"{count(result.n, 'submission')} scored; {count(len(result.differences), 'difference')} from "
        f"{compared} cached scores, {count(len(result.set_aside), 'file')} set aside"
    )
    if result.differences or result.set_aside:
        raise typer.Exit(1)


@app.command()
def push(
    repo: Annotated[str, typer.Option(metavar="OWNER/NAME", help="The Space, created if it is missing.")],
    private: Annotated[bool, typer.Option("--private", help="Create a new Space as private.")] = False,
) -> None:
    """Push the leaderboard to the Hub as a Space."""
    from .push import push as push_space

    pushed = push_space(repo, private=private)
    typer.echo(pushed.address)
    for step in pushed.to_do:
        typer.echo(f"to do: {step}")


def main() -> None:
    """Run the command line."""
    front_door(app)


def _settings(results: Path | None, dataset: str | None) -> LeaderboardSettings:
    settings = from_environment()
    return replace(settings, results=results or settings.results, dataset=dataset or settings.dataset)
