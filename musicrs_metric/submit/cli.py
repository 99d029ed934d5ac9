"""The command `submit`: send a run to a leaderboard."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import UserError, count
from ..runs.run_card import Modality, Paradigm, Reads

if TYPE_CHECKING:
    from .bundle import Bundle

_READ: Mapping[Any, str] = {
    "thread": "their own thread", "pools": "other threads' pools", "labels": "other threads' answers",
}  # fmt: skip
_STATES = {
    "stored": "stored",
    "queued": "queued until the leaderboard can commit it to its repository on the Hub",
    "already": "sent before, nothing new",
}
_HEADLINE = "recall@20"
# Fields of a submission that are no fields of a run card.
_EXTRA_FIELDS = ("link", "code_link", "description", "partial")


def submit(
    run: Annotated[Path, typer.Argument(help="Run folder, or a prediction file with or without run.json next to it.")],
    space: Annotated[
        str | None, typer.Option(metavar="URL", help="The leaderboard: its URL, or owner/name of its Space.")
    ] = None,
    repo: Annotated[
        str | None,
        typer.Option(metavar="OWNER/NAME", help="Instead of --space: the leaderboard's results repository on the Hub."),
    ] = None,
    dataset: Annotated[
        str | None, typer.Option("--dataset", "-d", help="First check thread ids and data against this dataset.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the system on the leaderboard. [run.json]")] = None,
    modality: Annotated[
        Modality | None, typer.Option(help="Input that the system gets of a thread. [run.json]")
    ] = None,
    paradigm: Annotated[Paradigm | None, typer.Option(help="Kind of system. [run.json]")] = None,
    reads: Annotated[
        Reads | None, typer.Option(help="Data that the system uses beyond its own thread. [run.json]")
    ] = None,
    link: Annotated[str | None, typer.Option(metavar="URL", help="Page of the system, https.")] = None,
    code_link: Annotated[str | None, typer.Option(metavar="URL", help="Page of the code of the system, https.")] = None,
    description: Annotated[str | None, typer.Option(help="Short description of the system.")] = None,
    open_weights: Annotated[
        bool | None, typer.Option("--open-weights/--closed-weights", help="Whether anyone can download its weights.")
    ] = None,
    partial: Annotated[bool, typer.Option("--partial", help="Allow missing threads; they score 0.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check the run and print its fields, without sending it.")
    ] = False,
) -> None:
    """Send a run to a leaderboard. The leaderboard computes its scores from the predictions."""
    from ..base.output import print_json
    from ..runs.read import config_of
    from ..runs.references import load_references
    from .bundle import build_bundle

    if (space is None) == (repo is None):
        raise UserError("expected one of --space (the leaderboard's URL) and --repo (its results repository)")
    fields: dict[str, str | bool | None] = {
        "name": name, "modality": modality, "paradigm": paradigm, "reads": reads,
        "link": link, "code_link": code_link, "description": description, "open_weights": open_weights,
        "partial": partial or None,
    }  # fmt: skip
    references = None if dataset is None else load_references(dataset, config_of(run))
    bundle = build_bundle(run, fields, references)
    for warning in bundle.warnings:
        typer.echo(f"{run}: {warning}", err=True)
    if dry_run:
        print_json(bundle.card)
        typer.echo(f"{count(bundle.n, 'prediction')}, no fault; nothing was sent", err=True)
    elif space is not None:
        _to_leaderboard(bundle, space)
    elif repo is not None:
        _to_repo(bundle, repo)


def _to_leaderboard(bundle: Bundle, space: str) -> None:
    from ..base.files import to_json
    from .leaderboard import LeaderboardClient, leaderboard_url

    client = LeaderboardClient(leaderboard_url(space))
    predictions = base64.b64encode(gzip.compress(bundle.predictions)).decode()
    extra = {name: value for name, value in bundle.card.items() if name in _EXTRA_FIELDS}
    card = {name: value for name, value in bundle.card.items() if name not in extra}
    answer = client.call("submit", {"predictions": predictions, "card": to_json(card), **extra})
    if not isinstance(answer, dict) or not isinstance(answer.get("state"), str):
        raise UserError(f"{client.url}: the answer has no state of the submission; check that the URL is a leaderboard")
    for warning in _list(answer.get("warnings")):
        typer.echo(_safe(warning), err=True)
    if answer["state"] == "refused":
        faults = _list(answer.get("faults"))
        for fault in faults:
            typer.echo(_safe(_object(fault).get("text")), err=True)
        n = answer.get("n_faults")
        typer.echo(f"refused: {count(n if isinstance(n, int) else len(faults), 'fault')}", err=True)
        raise typer.Exit(2)
    if isinstance(answer.get("summary"), str):
        typer.echo(_safe(answer["summary"]), err=True)
    if isinstance(answer.get("receipt"), str):
        typer.echo(f"receipt, to edit or withdraw the row later: {_safe(answer['receipt'])}", err=True)
    state = _STATES.get(answer["state"], _safe(answer["state"]))
    typer.echo(f"{state}{_rank(_object(answer.get('row')))}: {client.url}/?row={_safe(answer.get('key'))}")


def _rank(row: Mapping[str, Any]) -> str:
    """Return the rank of a row among systems that read the same; nothing for a row without such systems."""
    rank = _object(_object(row.get("standings")).get(_HEADLINE)).get("rank")
    if rank is None:
        return ""
    read = _READ.get(str(row.get("reads")), "the same")
    return f"; rank {_safe(rank)} of {_safe(row.get('n_peers'))} that read {read}, on {_HEADLINE}"


def _to_repo(bundle: Bundle, repo: str) -> None:
    from ..base.hub_errors import repo_id
    from .repo import open_pull_request

    url = open_pull_request(repo_id(repo, "--repo"), bundle)
    typer.echo(f"waiting for the owner of {repo} to merge it: {url}")


def _object(value: object) -> Mapping[str, Any]:
    """Return an object of an answer, or an empty one for any other value."""
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _safe(text: object) -> str:
    """Replace characters that a terminal would act on."""
    return "".join(char if char.isprintable() else "?" for char in str(text))
