"""Whole run: check the settings, then run the stages one after the other. A finished stage does nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import typer
from rich.console import Console

from musicrs_metric.base.progress import say
from musicrs_metric.errors import UserError, some

from ..layout import Work
from ..manifest import StageManifest
from .check import check
from .config import RunConfig, read_config
from .stage import StageResult, exiting_early, list_progress, progress


@dataclass(frozen=True)
class Step:
    """Step of a whole run.

    Attributes:
        name: Name of the stage, for the terminal.
        run: Runs the stage, unless it is finished.
    """

    name: str
    run: Callable[[], StageResult]


def run(path: Path) -> None:
    """Run all stages.

    Args:
        path: The settings file.

    Raises:
        UserError: A setting is wrong, or a stage needs a person.
        typer.Exit: A stage stopped early. The exit code says why.
    """
    console = Console(stderr=True)
    config = read_config(path)
    for note in check(config):
        say(console, f"note: {note}")
    n_new = 0
    for step in steps(config, console):
        with exiting_early(f"{step.name}: "):
            manifest, is_new = step.run()
        n_new += is_new
        kept = ", ".join(f"{counts.kept:,} of {counts.seen:,} {kind}" for kind, counts in manifest.counts.items())
        typer.echo(f"{step.name}: {'made' if is_new else 'nothing to do'} ({kept})")
        if is_new:
            for note in manifest.notes:
                say(console, f"  {note}")
    typer.echo("done" if n_new else "nothing to do: all of it was there")


def steps(config: RunConfig, console: Console) -> Iterator[Step]:
    """List the steps of a run, in their order.

    Args:
        config: The settings.
        console: Console of progress bars and messages.
    """
    from ..audio import run as audio
    from ..extract import run as extract
    from ..queries import run as queries
    from ..refine import run as refine
    from ..release import run as release
    from ..threads import run as threads
    from . import baseline

    work, system = Work(config.work), config.baseline
    dataset, home = release.folder_of(work, config.release), config.home or work.root / "hf"
    fetch = Step("audio", lambda: audio.run(work, config.audio, track=progress("Fetching")))
    yield Step("mine", lambda: _mine(config, work, console))
    yield Step("threads", lambda: threads.run(work, config.threads))
    yield Step("extract", lambda: extract.run(work, config.extract, console))
    yield Step("queries", lambda: queries.run(work, config.queries, console))
    yield Step("refine", lambda: refine.run(work, config.refine, list_progress("Comparing titles")))
    yield fetch
    if not config.annotate.skip:
        yield Step("annotate", lambda: _annotate(config, work))
        yield Step("audio of what was added", fetch.run)
    yield Step("pools", lambda: _pools(config, work))
    yield Step("release", lambda: release.run(work, config.release, list_progress("Writing")))
    if system is not None:
        yield Step("baseline", lambda: baseline.run(work, dataset, system, home))


def _mine(config: RunConfig, work: Work, console: Console) -> StageResult:
    from ..mine.check_subreddits import missing_subreddits
    from ..mine.dumps import NAMES, find_dumps, unnamed
    from ..mine.run import Mining, run_with_progress

    options = config.mine
    mining = Mining(find_dumps(options.dumps), work, options.subreddits)
    if skipped := unnamed(options.dumps):
        say(console, f"skipped {some([path.name for path in skipped], 3)}: expected {NAMES}")
    mined = run_with_progress(mining, options.workers, options.executor, options.master, console)
    if mined.damaged:
        first, *others = mined.damaged
        more = f", and {len(others)} other dumps are damaged" if others else ""
        raise UserError(f"{first.path}: {first.damage}{more}; fetch it again, or take it off the list")
    missing = list(missing_subreddits(mining, mined, named=options.names_subreddits))
    if missing:
        raise UserError("; ".join(missing) + "; fix mine.subreddits, or add the dumps that hold them")
    return StageResult(StageManifest.read(work.bronze, "mine"), bool(mined.n_new))


def _annotate(config: RunConfig, work: Work) -> StageResult:
    from ..annotate.prepare import work_items
    from ..annotate.run import run
    from ..lines import write_lines

    write_lines(work.worklist, work_items(work))
    if config.annotate.labels is None and not work.annotations.is_dir():
        raise UserError(
            f"{work.worklist} waits for annotators: run `python -m builder_scripts annotate serve --work "
            f"{work.root}`, and then this command again; or name a labels file, or skip the annotation"
        )
    return run(work, config.annotate)


def _pools(config: RunConfig, work: Work) -> StageResult:
    from musicrs_dataset.pools import Design

    from ..pools.run import pool_file, run

    result = run(work, config.pools, unjudged=config.annotate.skip, track=list_progress("Drawing pools"))
    wanted = config.baseline.pools if config.baseline else "published"
    if wanted != "published" and not pool_file(work, Design(wanted)).is_file():
        raise UserError(f"baseline.pools is {wanted}, and these threads cannot fill it; name another design")
    return result
