"""The command line of the data: build it, install it, look at it, check it, share it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from musicrs_metric.base.output import print_json
from musicrs_metric.base.progress import track
from musicrs_metric.errors import UserError, front_door
from musicrs_metric.runs.references import DEFAULT_DATASET

from .audio.fetch.cli import app as audio_app
from .audit.cli import audit
from .pools.cli import pools

if TYPE_CHECKING:
    from rich.console import Console

    from .repo.named_pools import NamedPools

app = typer.Typer(
    name="musicrs-dataset",
    help="The MusiCRS conversations as `load_dataset` finds them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
Item = TypeVar("Item")
Dataset = Annotated[str, typer.Argument(metavar="DIR", help="Directory given to `build --out`, or the folder in it.")]
DatasetOrName = Annotated[str, typer.Argument(metavar="DATASET", help="Directory given to `build --out`, or a name.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON in place of tables.")]


@app.command()
def build(
    source: Annotated[
        str, typer.Option("--from", metavar="SOURCE", help="The authors' JSONL file, its Hub id, or mini (a toy).")
    ],
    out: Annotated[
        Path,
        typer.Option(metavar="DIR", help="Where to make `musicrs/`, or `musicrs_mini/`; one there is replaced."),
    ],
    audio: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Cache of `audio fetch`, or audio files named <video_id>.* or <thread_id>/*"),
    ] = None,
    budget: Annotated[
        float, typer.Option(help="Seconds that the clips of a thread share, with --audio; SALMONN takes 30.")
    ] = 300.0,
    seed: Annotated[
        int, typer.Option(min=0, help="Chooses ten links where a thread has more usable ones, with --audio.")
    ] = 0,
    pools_files: Annotated[
        list[Path] | None,
        typer.Option("--pools", metavar="FILE", help="Pools to add as further configurations; may be repeated."),
    ] = None,
    pools_names: Annotated[
        list[str] | None,
        typer.Option("--pools-name", metavar="NAME", help="Their names, in the same order. [the design they state]"),
    ] = None,
    config: Annotated[list[str] | None, typer.Option(help="Configuration to write; may be repeated. [all]")] = None,
    redact: Annotated[
        bool,
        typer.Option("--redact", help="Replace e-mail addresses, telephone numbers, u/name and @name in texts."),
    ] = False,
    install: Annotated[
        bool, typer.Option(help='Make `load_dataset("musicrs")` find the authors\' data from anywhere.')
    ] = True,
) -> None:
    """Write the dataset as Parquet with its card, and install the authors' data under the name musicrs."""
    from .audio.clip_plan import ClipPlan
    from .audio.folder import AudioFolder
    from .personal import personal_data, redacted
    from .repo.build import build as write
    from .repo.build_diff import lost_in_rebuild, manifest_of
    from .repo.install import install as put
    from .schema import CONFIGS
    from .sources import resolve_source

    chosen = config or list(CONFIGS)
    told = _console()
    folder = None if audio is None else AudioFolder(audio, ClipPlan(total_s=budget, seed=seed))
    named = _named_pools(pools_files or [], pools_names or [])
    clips = folder is None and any(name in CONFIGS and CONFIGS[name].with_audio for name in chosen)
    threads, about = resolve_source(source, clips=clips)
    if folder is not None:
        folder.check_matches(threads)
    personal = personal_data(threads).in_words()
    if personal and redact:
        threads = [redacted(thread) for thread in threads]
        about = replace(about, notes=(*about.notes, f"personal data in texts is replaced: {personal}"))
    before = manifest_of(out / about.loads_as)
    made = write(
        threads, out, about=about, configs=chosen, pools=named,
        add_clips=None if folder is None else folder.add_clips, clip_plan=None if folder is None else folder.plan,
        track=_progress("Writing"),
    )  # fmt: skip
    lost = lost_in_rebuild(before, manifest_of(made))
    for note in (*about.notes, *(folder.report.lines() if folder else ()), *lost):
        told.print(note, markup=False, highlight=False, soft_wrap=True)
    if personal and not redact:
        told.print(
            f"personal data in texts: {personal}; --redact replaces it (pools and fingerprint stay, scores of systems "
            "that read the texts may change)",
            markup=False, highlight=False, soft_wrap=True,
        )  # fmt: skip
    typer.echo(f"{len(threads)} threads -> {made}")
    if install and about.loads_as == DEFAULT_DATASET:
        typer.echo(put(made))
    elif install:
        typer.echo(f"not installed; `python -m musicrs_dataset install {made}` gives it the name {DEFAULT_DATASET}")


@app.command()
def install(
    dataset: Annotated[
        str | None, typer.Argument(metavar="DIR", help="Directory given to `build --out`, or the folder in it.")
    ] = None,
    metric: Annotated[bool, typer.Option(help="Install the metric too.")] = True,
    check: Annotated[
        bool, typer.Option("--check", help="Install nothing; report what the name stands for, and whether it holds.")
    ] = False,
) -> None:
    """Make `load_dataset("musicrs")` and `evaluate.load("musicrs")` work from any directory, offline."""
    from .repo.install import check as state
    from .repo.install import install as put

    if check and dataset is None:
        found = list(state())
        for is_right, line in found:
            typer.echo(line if is_right else f"WRONG: {line}")
        raise typer.Exit(0 if all(is_right for is_right, _ in found) else 1)
    if check or dataset is None:
        raise UserError("expected a directory to install, or --check alone")
    typer.echo(put(dataset, metric=metric))


@app.command()
def validate(
    dataset: DatasetOrName,
    clips: Annotated[bool, typer.Option("--clips", help="Decode every clip too.")] = False,
    as_json: Json = False,
) -> None:
    """Name and count what is missing, invalid or odd; exit code 1 where something is missing or invalid."""
    from .validate import validate as check

    found = check(dataset, clips=clips, track=_progress("Checking"))
    if as_json:
        print_json(found.to_dict())
    else:
        from rich.console import Console

        from .tables import validation_tables

        console = Console()
        for table in validation_tables(found):
            console.print(table)
        rows = ", ".join(f"{name} {n}" for name, n in found.rows.items())
        verdict = "valid" if found.is_valid else "NOT valid"
        console.print(f"{dataset}: {verdict}; {rows} threads", markup=False, highlight=False, soft_wrap=True)
    if not found.is_valid:
        raise typer.Exit(1)


@app.command()
def describe(
    dataset: DatasetOrName,
    config: Annotated[
        str | None, typer.Option(help="Configuration to describe. [the first there is of audio_query, query_only, ...]")
    ] = None,
    as_json: Json = False,
) -> None:
    """Count threads, titles, genres, pools, links and clips."""
    from .describe import describe as count
    from .loading import iter_threads, richest_config

    config = config or richest_config(dataset)
    threads = list(iter_threads(dataset, config, audio=False))
    if not threads:
        raise UserError(f"{dataset}, configuration {config!r}: there are no threads in it")
    about = count(threads)
    if as_json:
        print_json(about.to_dict())
        return
    from rich.console import Console

    from .tables import description_tables

    console = Console()
    for table in description_tables(about):
        console.print(table)


@app.command()
def push(
    dataset: Dataset,
    repo: Annotated[str, typer.Option(metavar="OWNER/NAME", help="Where on the Hub; made if it does not exist.")],
    private: Annotated[bool, typer.Option("--private", help="Make a new repository private.")] = False,
) -> None:
    """Upload the dataset with its card to the Hub."""
    from .repo.push import push as upload

    typer.echo(upload(dataset, repo, private=private))


# Commands that live beside what they run; like this module, theirs import heavy libraries inside functions alone.
app.command()(pools)
app.command()(audit)
app.add_typer(audio_app, name="audio")


def main() -> None:
    """Run the command line; a user's mistake ends in one line and exit code 2."""
    front_door(app)


def _named_pools(files: Sequence[Path], names: Sequence[str | None]) -> list[NamedPools]:
    from .repo.named_pools import read_named_pools

    if names and len(names) != len(files):
        raise UserError(f"found {len(names)} --pools-name for {len(files)} --pools, expected one for each, or none")
    return [read_named_pools(file, name) for file, name in zip(files, names or [None] * len(files), strict=True)]


def _console() -> Console:
    from rich.console import Console

    return Console(stderr=True)


def _progress(what: str) -> Callable[[Sequence[Item]], Iterable[Item]]:
    return lambda items: track(items, what, len(items), _console())
