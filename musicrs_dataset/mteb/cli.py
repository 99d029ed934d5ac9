"""The command `mteb`: write the tables that mteb reads, and upload them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from musicrs_metric.runs.references import DEFAULT_DATASET


def mteb(
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder to write. An earlier layout in it is replaced.")],
    dataset: Annotated[
        str, typer.Argument(metavar="DATASET", help="Directory given to `build --out`, or a name.")
    ] = DEFAULT_DATASET,
    with_audio: Annotated[
        bool,
        typer.Option("--with-audio", help="Also write audio_only and audio_query: the first clip per thread."),
    ] = False,
    push: Annotated[
        str | None, typer.Option(metavar="OWNER/NAME", help="Also upload the folder to this repository on the Hub.")
    ] = None,
    private: Annotated[bool, typer.Option("--private", help="Make a new repository private.")] = False,
) -> None:
    """Write the dataset as tasks of mteb: corpus, queries, judgements, pools, card and eval.yaml."""
    import datasets

    from musicrs_metric.base.hub_errors import repo_id

    from ..repo.push import RIGHTS, upload
    from .layout import TASKS, write_layout

    if push is not None:
        repo_id(push, "--push")
    if with_audio:
        typer.echo(RIGHTS, err=True)
    datasets.disable_progress_bars()  # one per table, of tables that take a moment
    configs = list(TASKS) if with_audio else ["query_only"]
    for config, layout in write_layout(dataset, out, configs).items():
        silent = f", {layout.silent} without a clip" if layout.silent else ""
        typer.echo(f"{config}: {layout.queries} of {layout.threads} threads{silent}, {layout.documents} documents")
    typer.echo(str(out))
    if push is not None:
        # Audio of an earlier upload must not stay.
        uploaded = upload(out, push, ["*.parquet"], private=private, message="Tables for mteb")
        typer.echo(f"{uploaded.url}\nrevision {uploaded.commit}")
