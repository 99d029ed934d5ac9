"""Frame of every stage: skip a finished stage, do the work, write the manifest, and print the result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple, TypeVar

import typer

from musicrs_metric.base.progress import track

from ..manifest import Counts, FileHash, StageManifest, hash_files, is_done, versions_of

Item = TypeVar("Item")


class StoppedError(Exception):
    """Stop of a stage. The next stage must not start.

    Attributes:
        exit_code: Exit code: 1 for too many failures, 75 for downloads to try later, 128 plus the number of
            the signal for Ctrl-C and SIGTERM.
    """

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class StageResult(NamedTuple):
    """Result of a stage.

    Attributes:
        manifest: Manifest of the stage.
        is_new: The stage has written something. False if it was finished before.
    """

    manifest: StageManifest
    is_new: bool


@dataclass(frozen=True)
class StageOutput:
    """Output of the work of a stage.

    Attributes:
        files: Files that the stage wrote, in the folder of its manifest.
        counts: Rows in, kept and dropped, by kind of row.
        notes: Lines for the datasheet.
    """

    files: Sequence[Path]
    counts: Mapping[str, Counts]
    notes: Sequence[str] = ()


def run_stage(
    stage: str,
    folder: Path,
    inputs: Sequence[FileHash],
    parameters: Mapping[str, Any],
    body: Callable[[Path], StageOutput],
    *,
    packages: Iterable[str] = (),
    is_current: Callable[[StageManifest], bool] = lambda _: True,
    keeps_equal_manifest: bool = False,
    open_folder: Callable[[Path], AbstractContextManager[Path]] = nullcontext,
) -> StageResult:
    """Run a stage, unless it is finished.

    Args:
        stage: Name of the stage.
        folder: Folder of the output and the manifest.
        inputs: Files that the stage reads.
        parameters: Everything that changes the output, as plain JSON types.
        body: Does the work in the folder that it gets.
        packages: Packages whose versions the manifest records.
        is_current: Another test of a finished stage. If it is False, the stage runs again.
        keeps_equal_manifest: Keep the last manifest where the stage ran again with an equal output, so that no later
            stage runs again.
        open_folder: Gives the folder to write to, such as one that replaces `folder` in one step.

    Returns:
        The manifest. It is not new if inputs, parameters and outputs are those of the last manifest.
    """
    began = perf_counter()
    last = StageManifest.read(folder, stage) if is_done(folder, stage, parameters, inputs) else None
    if last is not None and is_current(last):
        return StageResult(last, False)
    with open_folder(folder) as target:
        output = body(target)
        outputs = hash_files(output.files, below=target)
        if keeps_equal_manifest and is_done(folder, stage, parameters, inputs):
            last = StageManifest.read(folder, stage)
            if tuple(last.outputs) == outputs:
                return StageResult(last, False)
        manifest = StageManifest(
            stage=stage,
            inputs=inputs,
            outputs=outputs,
            parameters=parameters,
            counts=output.counts,
            wall_s=perf_counter() - began,
            notes=output.notes,
            versions=versions_of(packages),
        )
        manifest.write(target)
    return StageResult(manifest, True)


@contextmanager
def exiting_early(prefix: str = "") -> Iterator[None]:
    """Print why a stage stopped, after `prefix`, and end the command with the exit code of the stop."""
    try:
        yield
    except StoppedError as error:
        typer.echo(f"{prefix}{error}", err=True)
        raise typer.Exit(error.exit_code) from error


def print_result(result: StageResult, output: Path) -> None:
    """Print the counts and notes of a stage.

    Args:
        result: Result of the stage.
        output: Main output of the stage.
    """
    for kind, counts in result.manifest.counts.items():
        typer.echo(f"{kind}: {counts.kept:,} of {counts.seen:,} kept")
        for reason, n in counts.dropped.items():
            if n:
                typer.echo(f"  {n:>12,} {reason}")
    for note in result.manifest.notes:
        typer.echo(f"note: {note}", err=True)
    typer.echo(f"{'made' if result.is_new else 'nothing to do:'} {output}")


def progress(label: str) -> Callable[[Iterable[Item], int], Iterable[Item]]:
    """Show progress on stderr over items that arrive one by one.

    Args:
        label: Action on the items.

    Returns:
        A function of the items and their number that yields the items.
    """
    from rich.console import Console

    return lambda items, total: track(items, label, total, Console(stderr=True))


def list_progress(label: str) -> Callable[[Sequence[Item]], Iterable[Item]]:
    """Show progress on stderr over a list of items; see `progress`."""
    show: Callable[[Iterable[Item], int], Iterable[Item]] = progress(label)
    return lambda items: show(items, len(items))
