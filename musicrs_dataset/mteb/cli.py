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
    from .layout import RIGHTS, TASKS, write_layout

    if with_audio:
        typer.echo(RIGHTS, err=True)
    configs = list(TASKS) if with_audio else ["query_only"]
    for config, layout in write_layout(dataset, out, configs).items():
        silent = f", {layout.silent} without a clip" if layout.silent else ""
        typer.echo(f"{config}: {layout.queries} of {layout.threads} threads{silent}, {layout.documents} documents")
    typer.echo(str(out))
    if push is not None:
        from .push import push_layout

        typer.echo(push_layout(out, push, private=private))
