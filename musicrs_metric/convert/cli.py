"""The command `convert`: rankings from and to the files of other programs."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Annotated, Literal

import typer

from ..runs.kinds import Kind
from ..runs.references import DEFAULT_CONFIG, DEFAULT_DATASET

_Target = Literal["run", "trec", "csv", "parquet", "json", "eee"]
_STDIN = "standard input"


def convert(
    source: Annotated[str, typer.Argument(metavar="INPUT", help="File or folder of rankings. - reads standard input.")],
    to: Annotated[_Target, typer.Option(help="Kind of file to write. run is a run folder, eee is Every Eval Ever.")],
    out: Annotated[str, typer.Option(metavar="FOLDER", help="Folder to write. - writes to standard output.")],
    dataset: Annotated[
        str, typer.Option("--dataset", "-d", help="Directory or name of the dataset that was ranked.")
    ] = DEFAULT_DATASET,
    config: Annotated[
        str | None, typer.Option("--config", help="Configuration of the dataset. [that of the run, or query_only]")
    ] = None,
    kind: Annotated[Kind | None, typer.Option("--from", help="Kind of the input. [recognised by its content]")] = None,
) -> None:
    """Convert rankings: from CSV, TREC, JSON, Parquet, mteb, Inspect or a run folder."""
    from ..errors import UserError
    from ..runs.references import load_references
    from .readers import detect, read_rankings
    from .write import write

    with tempfile.TemporaryDirectory(prefix="musicrs-convert-") as folder:
        path = Path(source)
        if source == "-":
            path = Path(folder) / _STDIN
            with path.open("wb") as file:
                shutil.copyfileobj(sys.stdin.buffer, file)
        is_named = config is not None
        try:
            found = kind or detect(path)
            if config is None:
                config = _config_in(path, found)
            references = load_references(dataset, config)
            rankings = read_rankings(path, references, found)
            if found != "run" and is_named:
                rankings.facts["config"] = config
        except UserError as error:
            raise UserError(str(error).replace(str(path), _STDIN) if source == "-" else str(error)) from None
        for line in (*rankings.notes, *write(rankings, references, to, out)):
            typer.echo(line.replace(str(path), _STDIN) if source == "-" else line, err=out == "-")


def _config_in(path: Path, kind: str) -> str:
    """Return the configuration that a run or a log states."""
    if kind == "run":
        from ..runs.read import config_of

        return config_of(path)
    if kind == "inspect":
        from ..inspect.log import config_of_log

        return config_of_log(path)
    return DEFAULT_CONFIG
