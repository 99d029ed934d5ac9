"""The command `submit`."""

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
    from .bundle import Parcel

_READ: Mapping[Any, str] = {
    "thread": "their own thread", "pools": "other threads' pools", "labels": "other threads' answers",
}  # fmt: skip
_HEADLINE = "recall@20"
_BESIDE_THE_CARD = ("link", "description", "partial")


def submit(
    run: Annotated[Path, typer.Argument(help="Run folder, or a prediction file, with run.json beside it or without.")],
    space: Annotated[
        str | None, typer.Option(metavar="URL", help="The board: its address, or owner/name of its Space.")
    ] = None,
    repo: Annotated[
        str | None,
        typer.Option(metavar="OWNER/NAME", help="In place of --space: the board's results repository on the Hub."),
    ] = None,
    dataset: Annotated[
        str | None, typer.Option("--dataset", "-d", help="Check thread ids and data against this dataset before.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="What the board is to call the system. [run.json]")] = None,
    modality: Annotated[Modality | None, typer.Option(help="What of a thread it is given. [run.json]")] = None,
    paradigm: Annotated[Paradigm | None, typer.Option(help="How it ranks. [run.json]")] = None,
    reads: Annotated[Reads | None, typer.Option(help="What it looks at beyond its own thread. [run.json]")] = None,
    link: Annotated[str | None, typer.Option(metavar="URL", help="Its page, https.")] = None,
    description: Annotated[str | None, typer.Option(help="A few words on it.")] = None,
    open_weights: Annotated[
        bool | None, typer.Option("--open-weights/--closed-weights", help="Whether anyone can download its weights.")
    ] = None,
    partial: Annotated[bool, typer.Option("--partial", help="Threads may be missing; they score 0.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check the run, print what is said of it, send nothing.")
    ] = False,
) -> None:
    """Send a run to a leaderboard; its scores are computed there, from the predictions."""
    from ..base.output import print_json
    from ..runs.read import config_of
    from ..runs.references import load_references
    from .bundle import pack

    if (space is None) == (repo is None):
        raise UserError("expected one of --space (the board's address) and --repo (its results repository)")
    said: dict[str, str | bool | None] = {
        "name": name, "modality": modality, "paradigm": paradigm, "reads": reads,
        "link": link, "description": description, "open_weights": open_weights, "partial": partial or None,
    }  # fmt: skip
    references = None if dataset is None else load_references(dataset, config_of(run))
    parcel = pack(run, said, references)
    for warning in parcel.warnings:
        typer.echo(f"{run}: {warning}", err=True)
    if dry_run:
        print_json(parcel.card)
        typer.echo(f"{count(parcel.n, 'prediction')}, no fault; nothing was sent", err=True)
    elif space is not None:
        _to_board(parcel, space)
    elif repo is not None:
        _to_repo(parcel, repo)


def _to_board(parcel: Parcel, space: str) -> None:
    from ..base.files import to_json
    from .leaderboard import Board, board_address

    board = Board(board_address(space))
    packed = base64.b64encode(gzip.compress(parcel.predictions)).decode()
    beside = {name: value for name, value in parcel.card.items() if name in _BESIDE_THE_CARD}
    card = {name: value for name, value in parcel.card.items() if name not in beside}
    answer = board.call("submit", {"predictions": packed, "card": to_json(card), **beside})
    if not isinstance(answer, dict) or not isinstance(answer.get("state"), str):
        raise UserError(f"{board.address}: answered something else than what became of the submission")
    for warning in _list(answer.get("warnings")):
        typer.echo(_safe(warning), err=True)
    if answer["state"] == "refused":
        faults = _list(answer.get("faults"))
        for fault in faults:
            typer.echo(_safe(_object(fault).get("text")), err=True)
        n = answer.get("n_faults")
        typer.echo(f"refused: {count(n if isinstance(n, int) else len(faults), 'fault')}", err=True)
        raise typer.Exit(2)
    typer.echo(f"{_became(answer)}: {board.address}/?row={_safe(answer.get('key'))}")


def _became(answer: Mapping[str, Any]) -> str:
    told = {
        "stored": "stored",
        "queued": "queued until the board can commit it to its repository on the Hub",
        "already": "sent before, nothing new",
    }.get(answer["state"], _safe(answer["state"]))
    return f"{told}{_place(_object(answer.get('row')))}"


def _place(row: Mapping[str, Any]) -> str:
    """Its rank among those it is ranked with; a system that alone reads what it reads has none."""
    rank = _object(_object(row.get("standings")).get(_HEADLINE)).get("rank")
    if rank is None:
        return ""
    read = _READ.get(str(row.get("reads")), "the same")
    return f"; rank {_safe(rank)} of {_safe(row.get('n_peers'))} that read {read}, on {_HEADLINE}"


def _to_repo(parcel: Parcel, repo: str) -> None:
    from ..base.hub_errors import repo_id
    from .repo import open_pull_request

    address = open_pull_request(repo_id(repo, "--repo"), parcel)
    typer.echo(f"waiting for the owner of {repo} to merge it: {address}")


def _object(value: object) -> Mapping[str, Any]:
    """An object as a board sends it; whatever else was sent says nothing."""
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _safe(text: object) -> str:
    """What a board says, safe for a terminal."""
    return "".join(char if char.isprintable() else "?" for char in str(text))
