"""Command line `python -m space`: serve the leaderboard, manage its submissions, push it to the Hub."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from musicrs_metric.errors import UserError, count, front_door, plain, show

from .settings import LeaderboardSettings, from_environment

if TYPE_CHECKING:
    from .owner import Submissions
    from .store import SubmissionStore

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
    from .factory import CACHE
    from .owner import folder_of
    from .recompute import recompute as recompute_all
    from .store.local import LocalStore

    settings = _settings(results, dataset)
    folder = folder_of(settings.results)
    data = load_data(settings.dataset)
    store = LocalStore(folder)
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


@app.command("rescore")
def rescore(results: Results = None, dataset: Dataset = None) -> None:
    """Score every submission again, also on a changed dataset. The same as recompute."""
    recompute(results, dataset)


Key = Annotated[str, typer.Argument(metavar="KEY", help="Key of a submission, or its first 6 or more characters.")]


@app.command("list")
def list_submissions(results: Results = None) -> None:
    """List the stored submissions: key, time, name, modality, and the reason if one was removed."""
    for entry, removed in _submissions(results).listed():
        state = "" if removed is None else f"  removed: {plain(removed)}"
        typer.echo(
            f"{entry.key[:12]}  {entry.received_at[:19]}  {plain(entry.card.name)}  {entry.card.modality}{state}"
        )


@app.command("show")
def show_submission(key: Key, results: Results = None) -> None:
    """Print the stored fields of a submission as JSON, without its predictions."""
    from .owner import described

    typer.echo(described(*_submissions(results).find(key)))


@app.command()
def remove(
    key: Key,
    reason: Annotated[str, typer.Option(help="Reason of the removal, shown by list.")],
    results: Results = None,
) -> None:
    """Take a submission off the leaderboard. Its file is kept, and restore brings it back."""
    entry = _submissions(results, writes=True).remove(key, reason)
    _event(_settings(results, None), "removal", entry.key, reason)
    typer.echo(f"removed: {plain(entry.card.name)} ({entry.key[:12]})")


@app.command()
def restore(key: Key, results: Results = None) -> None:
    """Bring a removed submission back."""
    entry = _submissions(results, writes=True).restore(key)
    _event(_settings(results, None), "restoration", entry.key)
    typer.echo(f"restored: {plain(entry.card.name)} ({entry.key[:12]})")


@app.command("reproduce")
def reproduce_row(
    key: Key,
    run: Annotated[Path, typer.Option(help="Folder of your own run of the same system, or its prediction file.")],
    results: Results = None,
    dataset: Dataset = None,
) -> None:
    """Compare the predictions of a row with those of your own run. Equal rankings mark the row as reproduced.

    Exit code 1: some rankings differ, and the row is not marked.
    """
    from .reproduce import reproduce

    settings = _settings(results, dataset)
    with _opened_store(settings) as store:
        result = reproduce(store, key, run)
    _event(settings, "reproduced" if result.is_equal else "not reproduced", result.entry.key)
    name = f"{plain(result.entry.card.name)} ({result.entry.key[:12]})"
    if not result.has_card:
        typer.echo(f"{run}: found no run.json; data, modality, reads and paradigm were not compared", err=True)
    for difference in result.differences[:_SHOWN]:
        typer.echo(difference)
    if len(result.differences) > _SHOWN:
        typer.echo(f"and {count(len(result.differences) - _SHOWN, 'more difference')}")
    if result.is_equal:
        typer.echo(f"reproduced: {name}: the rankings of {count(result.n, 'thread')} are the same")
        return
    typer.echo(f"not reproduced: {name}: {result.n_same} of {count(result.n, 'thread')} have the same ranking")
    raise typer.Exit(1)


@app.command("log")
def show_log(
    results: Results = None,
    last: Annotated[int, typer.Option(min=1, help="Number of events to print.")] = 50,
) -> None:
    """Print the event log: time, event, key, hash of the caller, and a note; the newest event last."""
    from .events import EventLog
    from .owner import folder_of

    settings = _settings(results, None)
    folder_of(settings.results)  # a wrong folder must not look like a quiet leaderboard
    for event in reversed(EventLog(settings.results).latest(last)):
        note = "".join(char if char.isprintable() else "?" for char in event.note)
        typer.echo(f"{event.time[:19]}  {event.event}  {event.key[:12] or '-'}  {event.caller or '-'}  {note}".rstrip())


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


def _submissions(results: Path | None, *, writes: bool = False) -> Submissions:
    from .owner import Submissions, folder_of
    from .store.local import LocalStore

    settings = _settings(results, None)
    if writes and settings.results_repo is not None:
        raise UserError(
            f"RESULTS_REPO is {settings.results_repo}: delete or add submissions/KEY.jsonl in that repository; the "
            "leaderboard follows within ten minutes"
        )
    return Submissions(LocalStore(folder_of(settings.results)))


@contextmanager
def _opened_store(settings: LeaderboardSettings) -> Iterator[SubmissionStore]:
    """Open the store of an existing leaderboard. Changes are committed at the end if they belong on the Hub."""
    from .board.data import load_data
    from .events import EventLog
    from .factory import open_store
    from .owner import folder_of
    from .store.hub import HubStore
    from .store.local import LocalStore

    if settings.results_repo is None:
        yield LocalStore(folder_of(settings.results))
        return
    store = open_store(settings, load_data(settings.dataset), EventLog(settings.results))
    try:
        yield store
    finally:
        if isinstance(store, HubStore):
            store.close()
    if store.problem() is not None:
        raise UserError(f"the change is on this disk only: {store.problem()}")


def _event(settings: LeaderboardSettings, event: str, key: str, note: str = "") -> None:
    from .events import EventLog

    EventLog(settings.results).add(event, key=key, caller="owner", note=note)


def _settings(results: Path | None, dataset: str | None) -> LeaderboardSettings:
    settings = from_environment()
    return replace(settings, results=results or settings.results, dataset=dataset or settings.dataset)
