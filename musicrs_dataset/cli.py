"""Command line of the data: build, check, describe and share datasets; audio; pools and their audit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from musicrs_metric.base.output import print_json
from musicrs_metric.base.progress import say, track
from musicrs_metric.errors import UserError, count, front_door
from musicrs_metric.runs.references import DEFAULT_CONFIG as DEFAULT_TEXT_CONFIG
from musicrs_metric.runs.references import DEFAULT_DATASET

from .audio.fetch.cli import app as audio_app
from .audit.cli import audit
from .mteb.cli import mteb
from .pools.cli import pools

if TYPE_CHECKING:
    from rich.console import Console

    from musicrs_metric.base.tables import Table

    from .corpora.record import CatalogueSource
    from .pools.files import NamedPools

app = typer.Typer(
    name="musicrs-dataset",
    help="Build and check the MusiCRS dataset for `load_dataset`.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
Item = TypeVar("Item")
Dataset = Annotated[str, typer.Argument(metavar="DIR", help="Directory given to `build --out`, or the folder in it.")]
DatasetOrName = Annotated[str, typer.Argument(metavar="DATASET", help="Directory given to `build --out`, or a name.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]


@app.command()
def build(
    source: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="SOURCE",
            help="The authors' JSONL file, its Hub id (also ID@COMMIT), mini (a toy), or READER:PATH for another "
            "corpus: cpcd, challenge2026, inspired, redial, reddit-movie, or jsonl (your own).",
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            metavar="DIR", help="Parent directory of `musicrs/` or `musicrs_mini/`. An earlier build in it is replaced."
        ),
    ],
    audio: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Cache of `audio fetch`, or audio files named <video_id>.* or <thread_id>/*."),
    ] = None,
    budget: Annotated[
        float, typer.Option(help="With --audio: seconds that the clips of a thread share. SALMONN takes 30.")
    ] = 300.0,
    seed: Annotated[
        int, typer.Option(min=0, help="With --audio: seed that chooses ten links if a thread has more usable links.")
    ] = 0,
    pools_files: Annotated[
        list[Path] | None,
        typer.Option("--pools", metavar="FILE", help="Pools to add as more configurations. May be repeated."),
    ] = None,
    pools_names: Annotated[
        list[str] | None,
        typer.Option(
            "--pools-name", metavar="NAME", help="Names of the pools, in the same order. [pool design of the file]"
        ),
    ] = None,
    config: Annotated[list[str] | None, typer.Option(help="Configuration to write. May be repeated. [all]")] = None,
    redact: Annotated[
        bool,
        typer.Option("--redact", help="Replace e-mail addresses, telephone numbers, u/name and @name in texts."),
    ] = False,
    install: Annotated[
        bool,
        typer.Option(help='Install the authors\' data, so that `load_dataset("musicrs")` works from any directory.'),
    ] = True,
) -> None:
    """Write the dataset as Parquet with its card, and install the authors' data under the name musicrs."""
    from musicrs_metric.measures import DEFAULT_K

    from .audio.clip_plan import ClipPlan
    from .audio.folder import AudioFolder
    from .corpora.record import CatalogueSource
    from .corpora.sources import is_corpus, read_corpus
    from .personal import personal_data, redacted
    from .repo.build import build as build_dataset
    from .repo.install import install as install_dataset
    from .repo.manifest import lost_in_rebuild, manifest_of
    from .schema import CONFIGS
    from .sources import resolve_source

    corpus = read_corpus(source) if is_corpus(source) else None
    if isinstance(corpus, CatalogueSource):
        given = {"--audio": audio, "--pools": pools_files, "--pools-name": pools_names, "--config": config}
        unused = [name for name, value in given.items() if value]
        if unused:
            raise UserError(f"{', '.join(unused)}: not for a corpus whose systems rank a catalogue; leave it out")
        _build_catalogue(corpus, out, redact)
        return
    config = config or ([DEFAULT_TEXT_CONFIG] if corpus is not None and audio is None else None)
    configs = config or list(CONFIGS)
    console = _console()
    audio_folder = None if audio is None else AudioFolder(audio, ClipPlan(total_s=budget, seed=seed))
    named_pools = _named_pools(pools_files or [], pools_names or [])
    clips = audio_folder is None and any(name in CONFIGS and CONFIGS[name].with_audio for name in configs)
    threads, about = resolve_source(source, clips=clips) if corpus is None else corpus
    if audio_folder is not None:
        audio_folder.check_matches(threads)
    personal = personal_data(threads).in_words()
    if personal and redact:
        threads = [redacted(thread) for thread in threads]
        about = replace(about, notes=(*about.notes, f"personal data in texts is replaced: {personal}"))
    before = manifest_of(out / about.loads_as)
    folder = build_dataset(
        threads, out, about=about, configs=configs, pools=named_pools,
        add_clips=None if audio_folder is None else audio_folder.add_clips,
        clip_plan=None if audio_folder is None else audio_folder.plan,
        track=_progress("Writing"),
    )  # fmt: skip
    lost = lost_in_rebuild(before, manifest_of(folder))
    for note in (*about.notes, *(audio_folder.report.lines() if audio_folder else ()), *lost):
        say(console, note)
    if personal and not redact:
        say(
            console,
            f"personal data in texts: {personal}; --redact replaces it (pools and fingerprint stay, scores of systems "
            "that read the texts may change)",
        )
    largest = max(len(thread.candidates) for thread in threads)
    if largest <= max(DEFAULT_K):
        say(
            console,
            f"no pool has more than {count(largest, 'candidate')}, so recall@{max(DEFAULT_K)} is the same for every "
            "order; choose a smaller cutoff: `score --k 5`, `compare --metric recall@5`",
        )
    typer.echo(f"{count(len(threads), 'thread')} -> {folder}")
    if install and about.loads_as == DEFAULT_DATASET:
        typer.echo(install_dataset(folder))
    elif install and corpus is not None:
        typer.echo(f"not installed: name this folder with --dataset {folder}")
    elif install:
        typer.echo(f"not installed; `python -m musicrs_dataset install {folder}` gives it the name {DEFAULT_DATASET}")


@app.command()
def install(
    dataset: Annotated[
        str | None, typer.Argument(metavar="DIR", help="Directory given to `build --out`, or the folder in it.")
    ] = None,
    metric: Annotated[bool, typer.Option(help="Install the metric too.")] = True,
    check: Annotated[
        bool,
        typer.Option("--check", help="Install nothing. Report the installed data, and check that the name loads it."),
    ] = False,
) -> None:
    """Install a dataset, so that `load_dataset("musicrs")` and `evaluate.load("musicrs")` work offline everywhere."""
    from .repo.install import check as check_installation
    from .repo.install import install as install_dataset

    if check and dataset is None:
        results = list(check_installation())
        for is_right, line in results:
            typer.echo(line if is_right else f"WRONG: {line}")
        raise typer.Exit(0 if all(is_right for is_right, _ in results) else 1)
    if check or dataset is None:
        raise UserError("expected a directory to install, or --check alone")
    typer.echo(install_dataset(dataset, metric=metric))


@app.command()
def validate(
    dataset: DatasetOrName,
    clips: Annotated[bool, typer.Option("--clips", help="Decode every clip too.")] = False,
    as_json: Json = False,
) -> None:
    """List and count missing, invalid and suspicious rows and files. Exit code 1 if any are missing or invalid."""
    from .validate import validate as validate_dataset

    validation = validate_dataset(dataset, clips=clips, track=_progress("Checking"))
    if as_json:
        print_json(validation.to_dict())
    else:
        from .tables import validation_tables

        _print_tables(validation_tables(validation))
        rows = ", ".join(f"{name} {n}" for name, n in validation.rows.items())
        typer.echo(f"{dataset}: {'valid' if validation.is_valid else 'NOT valid'}; {rows} threads")
    if not validation.is_valid:
        raise typer.Exit(1)


@app.command()
def describe(
    dataset: DatasetOrName,
    config: Annotated[
        str | None,
        typer.Option(help="Configuration to describe. [the first of audio_query, query_only, ... in the dataset]"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Count threads, titles, genres, pools, links and clips."""
    from .describe import describe as describe_threads
    from .loading import iter_threads, richest_config

    config = config or richest_config(dataset)
    threads = list(iter_threads(dataset, config, audio=False))
    if not threads:
        raise UserError(f"{dataset}, configuration {config!r}: found no threads, expected at least one")
    about = describe_threads(threads)
    if as_json:
        print_json(about.to_dict())
        return
    from .tables import description_tables

    _print_tables(description_tables(about))


@app.command()
def push(
    dataset: Dataset,
    repo: Annotated[
        str, typer.Option(metavar="OWNER/NAME", help="Repository on the Hub. Created if it does not exist.")
    ],
    private: Annotated[bool, typer.Option("--private", help="Make a new repository private.")] = False,
) -> None:
    """Upload the dataset with its card to the Hub."""
    from .repo.push import RIGHTS, has_audio
    from .repo.push import push as push_dataset

    if has_audio(dataset):
        typer.echo(RIGHTS, err=True)
    typer.echo(push_dataset(dataset, repo, private=private))


# Commands of subpackages. Like this module, their modules import heavy libraries only inside functions.
app.command()(pools)
app.command()(audit)
app.command()(mteb)
app.add_typer(audio_app, name="audio")


def main() -> None:
    """Run the command line. A mistake of the user ends in one line and exit code 2."""
    front_door(app)


def _build_catalogue(source: CatalogueSource, out: Path, redact: bool) -> None:
    from .corpora.write import write_corpus
    from .personal import find_personal
    from .personal import redact as redacted_text

    turns, about = source.turns, source.about
    n_personal = sum(bool(find_personal(turn.query)) for turn in turns)
    if n_personal and redact:
        turns = [replace(turn, query=redacted_text(turn.query)) for turn in turns]
        about = replace(about, notes=(*about.notes, f"personal data is replaced in the queries of {n_personal} turns"))
    folder = write_corpus(source._replace(turns=turns, about=about), out)
    lines = list(about.notes)
    if n_personal and not redact:
        lines.append(f"personal data in the queries of {n_personal} turns; --redact replaces it")
    for line in lines:
        say(_console(), line)
    typer.echo(f"{len(turns)} turns, {len(source.catalogue)} items -> {folder}")


def _named_pools(files: Sequence[Path], names: Sequence[str | None]) -> list[NamedPools]:
    from .pools.files import read_named_pools

    if names and len(names) != len(files):
        raise UserError(f"found {len(names)} --pools-name for {len(files)} --pools, expected one each, or none")
    return [read_named_pools(file, name) for file, name in zip(files, names or [None] * len(files), strict=True)]


def _console() -> Console:
    from rich.console import Console

    return Console(stderr=True)


def _print_tables(tables: Iterable[Table]) -> None:
    from rich.console import Console

    from musicrs_metric.base.renderers.terminal import rich_table

    console = Console()
    for table in tables:
        console.print(rich_table(table, no_wrap={"name"}))


def _progress(label: str) -> Callable[[Sequence[Item]], Iterable[Item]]:
    return lambda items: track(items, label, len(items), _console())
