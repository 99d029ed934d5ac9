"""The stages of a whole run, in their order: each knows from its manifest whether there is anything to do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from musicrs_metric.errors import UserError

from ..layout import Work
from ..manifest import StageManifest
from .config import Asked, RunConfig

if TYPE_CHECKING:
    from rich.console import Console

    from ..llm.session import Settings
    from ..pools.run import Drawing
    from ..refine.stage import Rules as RefineRules
    from ..release.options import Options


@dataclass(frozen=True)
class Done:
    """What came of a step.

    Attributes:
        manifest: Of its stage.
        new: Whether anything had to be done.
    """

    manifest: StageManifest
    new: bool


@dataclass(frozen=True)
class Step:
    """A step of a whole run.

    Attributes:
        name: For the terminal; the name of its stage.
        run: Does it, unless it is done.
    """

    name: str
    run: Callable[[], Done]


def steps(config: RunConfig, console: Console) -> Iterator[Step]:
    """List the steps of a run, in their order.

    Args:
        config: The settings.
        console: For progress, and for what people have to be told.
    """
    work = Work(config.work)
    yield Step("mine", lambda: _mine(config, work, console))
    yield Step("threads", lambda: _threads(config, work))
    yield Step("extract", lambda: _ask("extract", config.extract, work, console))
    yield Step("queries", lambda: _ask("queries", config.queries, work, console))
    yield Step("refine", lambda: _refine(config, work))
    yield Step("audio", lambda: _audio(config, work))
    if not config.annotate.skip:
        yield Step("annotate", lambda: _annotate(config, work))
        yield Step("audio of what was added", lambda: _audio(config, work))
    yield Step("pools", lambda: _pools(config, work))
    yield Step("release", lambda: _release(config, work))
    if config.baseline is not None:
        yield Step("baseline", lambda: _baseline(config, work))


def _mine(config: RunConfig, work: Work, console: Console) -> Done:
    from ..mine.bar import mine_with_bar
    from ..mine.check_subreddits import missing_subreddits
    from ..mine.dumps import find_dumps
    from ..mine.run import Mining

    section = config.mine
    mining = Mining(find_dumps(section.dumps), work, section.subreddits)
    mined = mine_with_bar(mining, section.workers, section.executor, section.master, console)
    if mined.damaged:
        first, *others = mined.damaged
        more = f", and {len(others)} further dumps are damaged" if others else ""
        raise UserError(f"{first.path}: {first.damage}{more}; fetch it again, or take it off the list")
    missing = list(missing_subreddits(mining, mined, named="subreddits" in section.model_fields_set))
    if missing:
        raise UserError("; ".join(missing) + "; mend mine.subreddits, or add the dumps that hold them")
    return Done(StageManifest.read(work.bronze, "mine"), bool(mined.n_new))


def _threads(config: RunConfig, work: Work) -> Done:
    from ..threads.rules import Rules
    from ..threads.run import run

    section = config.threads
    rules = Rules(
        section.min_replies, section.min_chars, section.keep_deleted, section.keep_bots, section.keep_stickied,
        section.asker_counts,
    )  # fmt: skip
    return Done(*run(work, rules, section.engine, memory=section.memory, master=section.master))


def llm_settings(section: Asked) -> Settings:
    """Whom a stage asks and how.

    Raises:
        UserError: The URL, the key, the further fields or another value of the section cannot be used.
    """
    from ..llm.session import Settings, model_with
    from ..llm.usage import Prices

    return Settings(
        model_with(section.model, section.revision, section.extra_body, section.thinking_tokens), section.backend,
        section.url, section.key_variable, section.concurrency, section.timeout, section.retries, section.batch_size,
        Prices(section.price_read, section.price_written), section.skip_unanswered, section.max_failures,
    )  # fmt: skip


def _ask(stage: str, section: Asked, work: Work, console: Console) -> Done:
    from ..extract import run as extract
    from ..queries import run as queries

    return Done(*(extract if stage == "extract" else queries).run(work, llm_settings(section), console))


def refine_rules(config: RunConfig) -> RefineRules:
    """What `refine` keeps, and the genre of each subreddit.

    Raises:
        UserError: A genre or a number of answers cannot be.
    """
    from ..refine.genres import genre_table
    from ..refine.stage import Rules

    section = config.refine
    genres = genre_table(section.genres, "refine.genres")
    return Rules(section.kinds, section.min_answers, section.max_answers, section.top, genres)


def _refine(config: RunConfig, work: Work) -> Done:
    from ..progress import tracking_list
    from ..refine.run import run

    return Done(*run(work, refine_rules(config), tracking_list("Comparing titles")))


def _audio(config: RunConfig, work: Work) -> Done:
    from musicrs_dataset.audio.fetch.options import client_options

    from ..audio.run import Asking, run
    from ..progress import tracking

    section = config.audio
    options = client_options(
        section.cookies,
        section.sleep,
        section.rate,
        section.workers,
        section.max_minutes,
        section.max_megabytes,
        section.yt_dlp,
    )
    return Done(*run(work, Asking(section.fetch, options), tracking("Fetching")))


def _annotate(config: RunConfig, work: Work) -> Done:
    from ..annotate import places
    from ..annotate.prepare import work_items
    from ..annotate.run import Settling, run
    from ..lines import write_lines

    section = config.annotate
    write_lines(places.worklist(work), work_items(work))
    if section.labels is None and not places.answers(work).is_dir():
        raise UserError(
            f"{places.worklist(work)} waits for people: run `python -m builder_scripts annotate serve --work "
            f"{work.root}`, and then this command again; or name a labels file, or skip the annotation"
        )
    return Done(*run(work, Settling(section.decisions, section.majority, section.labels, section.partial)))


def drawing(config: RunConfig) -> Drawing:
    """How pools are drawn.

    Raises:
        UserError: A design is named twice.
    """
    from ..pools.run import Drawing

    section = config.pools
    return Drawing(tuple(section.designs), section.seed, section.distractors, config.annotate.skip)


def _pools(config: RunConfig, work: Work) -> Done:
    from musicrs_dataset.pools import Design

    from ..pools.run import pool_file, run
    from ..progress import tracking_list

    done = Done(*run(work, drawing(config), tracking_list("Drawing pools")))
    wanted = config.baseline.pools if config.baseline else "published"
    if wanted != "published" and not pool_file(work, Design(wanted)).is_file():
        raise UserError(f"baseline.pools is {wanted}, and these threads cannot fill it; name another design")
    return done


def _release(config: RunConfig, work: Work) -> Done:
    from ..progress import tracking_list
    from ..release.run import run

    return Done(*run(work, release_options(config), tracking_list("Writing")))


def _baseline(config: RunConfig, work: Work) -> Done:
    from ..release.run import folder_of
    from .baseline import Baseline, run

    section = config.baseline
    if section is None:
        raise ValueError("there is no baseline to run")
    home = config.home or work.root / "hf"
    return Done(*run(work, folder_of(work, release_options(config)), Baseline(**dict(section)), home))


def release_options(config: RunConfig) -> Options:
    """What is said of the release.

    Raises:
        UserError: Its name cannot be that of a dataset.
    """
    from ..release.options import Options

    return Options(**dict(config.release))
