"""`python -m space`: serve the leaderboard, or compute its scores again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from musicrs_metric.errors import UserError, count, front_door, plain, show

from .settings import LeaderboardSettings, from_environment

app = typer.Typer(
    name="space",
    help="The leaderboard.",
    add_completion=False,
    pretty_exceptions_enable=False,
)

Dataset = Annotated[
    str | None, typer.Option("--dataset", "-d", help="Directory of a built dataset, or a name. [MUSICRS_DATASET]")
]
Results = Annotated[Path | None, typer.Option("--results", help="Folder of the submissions. [RESULTS_DIR, or results]")]
_SHOWN = 20


@app.callback(invoke_without_command=True)
def serve(
    context: typer.Context,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = 7860,
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for all.")] = "127.0.0.1",
    results: Results = None,
    dataset: Dataset = None,
) -> None:
    """Serve the leaderboard; stop it with Ctrl-C at any time, nothing is lost."""
    if context.invoked_subcommand is not None:
        return
    from .app import serve as serve_app

    serve_app(_settings(results, dataset), host=host, port=port)


@app.command()
def recompute(results: Results = None, dataset: Dataset = None) -> None:
    """Compute every score again from the stored predictions; exit code 1 where one differs or a file is set aside."""
    from rich.console import Console
    from rich.progress import Progress

    from .board.cache import Cache
    from .board.data import load_data
    from .factory import CACHE, SUBMISSIONS
    from .recompute import recompute as recompute_all
    from .store.local import LocalStore

    settings = _settings(results, dataset)
    if not (settings.results / SUBMISSIONS).is_dir():
        raise UserError(f"{settings.results}: holds no {SUBMISSIONS}; name the folder of the board with --results")
    data = load_data(settings.dataset)
    store = LocalStore(settings.results / SUBMISSIONS)
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("scoring", total=None)
        done = recompute_all(
            data,
            store,
            Cache(settings.results / CACHE),
            lambda n, of: progress.update(task, completed=n, total=of),
        )
    for difference in done.differences[:_SHOWN]:
        name = plain(difference.entry.card.name)
        before, now = show(difference.before), show(difference.now)
        typer.echo(f"{name} ({difference.entry.key[:12]}): {difference.what} was {before}, is {now}")
    if len(done.differences) > _SHOWN:
        typer.echo(f"and {count(len(done.differences) - _SHOWN, 'more difference')}")
    for file in done.set_aside:
        typer.echo(f"set aside: {file.file if file.file.isprintable() else show(file.file)}: {file.reason}")
    kept = done.n - done.n_new
    typer.echo(
        f"{count(done.n, 'submission')} scored; {count(len(done.differences), 'difference')} from the scores kept of "
        f"{kept}, {count(len(done.set_aside), 'file')} set aside"
    )
    if done.differences or done.set_aside:
        raise typer.Exit(1)


@app.command()
def push(
    repo: Annotated[str, typer.Option(metavar="OWNER/NAME", help="The Space; made if it does not exist.")],
    private: Annotated[bool, typer.Option("--private", help="A Space that is made is private.")] = False,
) -> None:
    """Put the leaderboard on the Hub as a Space."""
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
