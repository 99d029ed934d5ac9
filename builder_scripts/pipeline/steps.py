"""Stages of a whole run, in their order. A finished stage does nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from musicrs_metric.errors import UserError

from ..layout import Work
from ..manifest import StageManifest
from .config import BaselineOptions, RunConfig
from .stage import StageResult, list_progress, progress

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True)
class Step:
    """Step of a whole run.

    Attributes:
        name: Name of the stage, for the terminal.
        run: Runs the stage, unless it is finished.
    """

    name: str
    run: Callable[[], StageResult]


def steps(config: RunConfig, console: Console) -> Iterator[Step]:
    """List the steps of a run, in their order.

    Args:
        config: The settings.
        console: Console of progress bars and messages.
    """
    from ..extract import run as extract
    from ..queries import run as queries

    work, baseline = Work(config.work), config.baseline
    yield Step("mine", lambda: _mine(config, work, console))
    yield Step("threads", lambda: _threads(config, work))
    yield Step("extract", lambda: extract.run(work, config.extract, console))
    yield Step("queries", lambda: queries.run(work, config.queries, console))
    yield Step("refine", lambda: _refine(config, work))
    yield Step("audio", lambda: _audio(config, work))
    if not config.annotate.skip:
        yield Step("annotate", lambda: _annotate(config, work))
        yield Step("audio of what was added", lambda: _audio(config, work))
    yield Step("pools", lambda: _pools(config, work))
    yield Step("release", lambda: _release(config, work))
    if baseline is not None:
        yield Step("baseline", lambda: _baseline(config, baseline, work))


def _mine(config: RunConfig, work: Work, console: Console) -> StageResult:
    from ..mine.check_subreddits import missing_subreddits
    from ..mine.dumps import find_dumps
    from ..mine.run import Mining, run_with_progress

    options = config.mine
    mining = Mining(find_dumps(options.dumps), work, options.subreddits)
    mined = run_with_progress(mining, options.workers, options.executor, options.master, console)
    if mined.damaged:
        first, *others = mined.damaged
        more = f", and {len(others)} other dumps are damaged" if others else ""
        raise UserError(f"{first.path}: {first.damage}{more}; fetch it again, or take it off the list")
    missing = list(missing_subreddits(mining, mined, named=options.names_subreddits))
    if missing:
        raise UserError("; ".join(missing) + "; fix mine.subreddits, or add the dumps that hold them")
    return StageResult(StageManifest.read(work.bronze, "mine"), bool(mined.n_new))


def _threads(config: RunConfig, work: Work) -> StageResult:
    from ..threads.run import run

    return run(work, config.threads)


def _refine(config: RunConfig, work: Work) -> StageResult:
    from ..refine.run import run

    return run(work, config.refine, list_progress("Comparing titles"))


def _audio(config: RunConfig, work: Work) -> StageResult:
    from ..audio.run import run

    return run(work, config.audio, track=progress("Fetching"))


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


def _release(config: RunConfig, work: Work) -> StageResult:
    from ..release.run import run

    return run(work, config.release, list_progress("Writing"))


def _baseline(config: RunConfig, options: BaselineOptions, work: Work) -> StageResult:
    from ..release.run import folder_of
    from .baseline import run

    return run(work, folder_of(work, config.release), options, config.home or work.root / "hf")
