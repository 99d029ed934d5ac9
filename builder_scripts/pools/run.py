"""Stage `pools` on a work folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from musicrs_dataset.pools import (
    DISTRACTORS,
    Design,
    PoolSet,
    balanced_pools,
    fresh_pools,
    paper_pools,
    write_pools,
)
from musicrs_dataset.pools.files import manifest_path
from musicrs_dataset.pools.poolset import Track, untracked
from musicrs_metric.errors import UserError

from ..annotate.judgement import Judgement
from ..extract.tables import read_posts, read_replies
from ..layout import Work, require
from ..lines import read_lines
from ..manifest import Counts, StageManifest, hash_files, is_done, versions_of
from ..refine.schema import CorpusThread, read_corpus, write_corpus
from .apply_labels import Rules, Settled, settle
from .outside import titles_outside

STAGE = "pools"


@dataclass(frozen=True)
class Drawing:
    """How pools are drawn.

    Attributes:
        designs: Which designs; the first one makes the pools of the plain configurations.
        seed: Pools are a function of it and the threads.
        distractors: Wanted distractors per pool.
        unjudged: Take the corpus as the models left it; nobody has judged it.

    Raises:
        UserError: There is no design, or one twice.
    """

    designs: Sequence[Design] = tuple(Design)
    seed: int = 0
    distractors: int = DISTRACTORS
    unjudged: bool = False

    def __post_init__(self) -> None:
        if not self.designs or len(set(self.designs)) < len(self.designs):
            found = ", ".join(self.designs) or "none"
            raise UserError(f"designs of pools: found {found}, expected different ones of {', '.join(Design)}")


def run(work: Work, drawing: Drawing, track: Track = untracked) -> tuple[StageManifest, bool]:
    """Make `gold/settled.jsonl` and `gold/pools/<design>.jsonl`, unless they are there.

    Args:
        work: The work folder, with what `refine` and `annotate settle` made.
        drawing: How to draw.
        track: Shows progress over subreddits.

    Returns:
        The manifest, and whether anything had to be done.

    Raises:
        UserError: An earlier stage is missing, no thread is left, or the first design cannot be had of these threads.
    """
    began = perf_counter()
    inputs = hash_files(_inputs(work, drawing))
    parameters = asdict(drawing)
    if is_done(work.gold, STAGE, parameters, inputs):
        return StageManifest.read(work.gold, STAGE), False
    settled = _settled(work, drawing)
    if not settled.threads:
        raise UserError(f"{work.corpus}: no thread is left after annotation; nothing can be released of it")
    write_corpus(work.settled, settled.threads)
    made, left_out = _draw_all(work, settled.threads, drawing, track)
    _clear(work, made)
    files = [work.settled]
    for pools in made:
        path = pool_file(work, pools.design)
        write_pools(path, pools, [thread.to_thread() for thread in settled.threads], source=work.settled.name)
        files += [path, manifest_path(path)]
    manifest = StageManifest(
        stage=STAGE,
        inputs=inputs,
        outputs=hash_files(files, below=work.gold),
        parameters=parameters,
        counts=settled.counts,
        wall_s=perf_counter() - began,
        notes=[*left_out, *(note for pools in made for note in _notes(pools))],
        versions=versions_of(("numpy", "scipy")),
    )
    manifest.write(work.gold)
    return manifest, True


def pool_file(work: Work, design: Design) -> Path:
    """Where the pools of a design lie."""
    return work.pools / f"{design}.jsonl"


def _inputs(work: Work, drawing: Drawing) -> list[Path]:
    labels = [] if drawing.unjudged else [*require((work.labels,), "annotate settle")]
    outside = [work.threads, work.entities, work.queries, work.merges] if Design.FRESH in drawing.designs else []
    return [*require((work.corpus,), "refine"), *labels, *require((work.replies, *outside), "refine")]


def _settled(work: Work, drawing: Drawing) -> Settled:
    corpus = read_corpus(work.corpus)
    if drawing.unjudged:
        return Settled(corpus, {"threads": Counts(len(corpus), len(corpus))})
    refined = StageManifest.read(work.gold, "refine").parameters
    labels = {label.thread_id: label for label in read_lines(work.labels, Judgement)}
    replies = {reply.comment_id or "": reply.body for reply in read_replies(work.replies, read_posts(work.threads))}
    return settle(corpus, labels, replies, Rules(refined["min_answers"], refined["top"]))


def _draw_all(
    work: Work, threads: Sequence[CorpusThread], drawing: Drawing, track: Track
) -> tuple[list[PoolSet], list[str]]:
    """Draw every design; a further one that these threads cannot fill is left out, with a note."""
    made: list[PoolSet] = []
    left_out: list[str] = []
    outside = _outside(work, threads) if Design.FRESH in drawing.designs else {}
    for place, design in enumerate(drawing.designs):
        try:
            made.append(_draw(design, threads, outside, drawing, track))
        except UserError as error:
            if place == 0:  # it makes the plain configurations, and no other design may take its place unasked
                raise
            left_out.append(f"{design}: left out, {error}")
    return made, left_out


def _outside(work: Work, threads: Sequence[CorpusThread]) -> dict[str, list[str]]:
    kinds = StageManifest.read(work.gold, "refine").parameters["kinds"]
    return titles_outside(work, {thread.thread_id for thread in threads}, kinds)


def _draw(
    design: Design,
    threads: Sequence[CorpusThread],
    outside: Mapping[str, Sequence[str]],
    drawing: Drawing,
    track: Track,
) -> PoolSet:
    plain = [thread.to_thread() for thread in threads]
    options: dict[str, Any] = {"distractors": drawing.distractors, "seed": drawing.seed, "track": track}
    if design is Design.FRESH:
        return fresh_pools(plain, outside, **options)
    draw = paper_pools if design is Design.PAPER else balanced_pools
    return draw(plain, **options)


def _notes(pools: PoolSet) -> list[str]:
    sizes = [len(pool) for pool in pools.pools.values()]
    told = f"{pools.design}: {len(sizes)} pools of {min(sizes)} to {max(sizes)} candidates, seed {pools.seed}"
    return [told, *(f"{pools.design}: {note}" for note in pools.notes)]


def _clear(work: Work, made: Sequence[PoolSet]) -> None:
    """Remove pools of an earlier run, which are of other threads or no longer asked for."""
    for design in set(Design) - {pools.design for pools in made}:
        pool_file(work, design).unlink(missing_ok=True)
        manifest_path(pool_file(work, design)).unlink(missing_ok=True)
