"""Stage `pools` on a work folder."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from musicrs_dataset.pools import (
    Design,
    PoolSet,
    draw_pools,
    write_pools,
)
from musicrs_dataset.pools.files import manifest_path
from musicrs_dataset.pools.poolset import Track, design_rule, untracked
from musicrs_metric.errors import UserError

from ..annotate.judgement import Judgement
from ..extract.mentions import Kind
from ..extract.tables import read_posts, read_replies
from ..layout import Work, require
from ..lines import read_lines
from ..manifest import Counts, StageManifest, hash_files
from ..pipeline.stage import StageOutput, StageResult, run_stage
from ..refine.merges import Spellings, read_merges
from ..refine.ranking import named
from ..refine.schema import CorpusThread, read_corpus, write_corpus
from ..refine.stage import count_spellings
from ..refine.tables import read_conversations
from .apply_labels import AnswerLimits, LabelledCorpus, apply_labels
from .options import PoolsOptions

STAGE = "pools"


def run(work: Work, options: PoolsOptions, *, unjudged: bool = False, track: Track = untracked) -> StageResult:
    """Make `gold/settled.jsonl` and `gold/pools/<design>.jsonl`, unless they are finished.

    Args:
        work: The work folder, with the output of `refine` and `annotate settle`.
        options: Designs, seed and number of distractors.
        unjudged: Take the corpus without annotation.
        track: Shows progress over subreddits.

    Returns:
        The manifest, and whether it is new.

    Raises:
        UserError: An earlier stage is missing, no thread is left, or the threads cannot fill the first design.
    """

    def body(_: Path) -> StageOutput:
        corpus = _labelled(work, unjudged=unjudged)
        if not corpus.threads:
            raise UserError(f"{work.corpus}: no thread is left after annotation; there is nothing to release")
        write_corpus(work.settled, corpus.threads)
        drawn, notes = _draw_all(work, corpus.threads, options, track)
        _remove_old_pools(work, drawn)
        files = [work.settled]
        for pools in drawn:
            path = pool_file(work, pools.design)
            write_pools(path, pools, [thread.to_thread() for thread in corpus.threads], source=work.settled.name)
            files += [path, manifest_path(path)]
        return StageOutput(files, corpus.counts, [*notes, *(note for pools in drawn for note in _notes(pools))])

    parameters = options.model_dump(mode="json") | {"unjudged": unjudged}
    inputs = hash_files(_inputs(work, options, unjudged=unjudged))
    return run_stage(STAGE, work.gold, inputs, parameters, body, packages=("numpy", "scipy"))


def pool_file(work: Work, design: Design) -> Path:
    """Return the file of the pools of a design."""
    return work.pools / f"{design}.jsonl"


def external_titles(work: Work, inside: Collection[str], kinds: Sequence[Kind]) -> dict[str, list[str]]:
    """Collect the titles that replies name in threads outside the benchmark.

    Args:
        work: The work folder, with the output of `refine`.
        inside: Ids of the threads of the benchmark.
        kinds: Kinds of entities to recommend.

    Returns:
        Titles by subreddit, in their merged spelling.
    """
    conversations = read_conversations(work)
    spell = Spellings(count_spellings(conversations), read_merges(work.merges))
    titles: dict[str, dict[str, None]] = {}
    for conversation in conversations:
        if conversation.thread_id not in inside:
            mentions = [mention for reply in conversation.replies for mention in named(reply.entities)]
            own = titles.setdefault(conversation.subreddit, {})
            own.update(dict.fromkeys(spell(kind, name) for kind, name in mentions if kind in kinds))
    return {subreddit: list(own) for subreddit, own in titles.items()}


def _inputs(work: Work, options: PoolsOptions, *, unjudged: bool) -> list[Path]:
    labels = [] if unjudged else [*require((work.labels,), "annotate settle")]
    outside = [work.threads, work.entities, work.queries, work.merges] if Design.FRESH in options.designs else []
    return [*require((work.corpus,), "refine"), *labels, *require((work.replies, *outside), "refine")]


def _labelled(work: Work, *, unjudged: bool) -> LabelledCorpus:
    corpus = read_corpus(work.corpus)
    if unjudged:
        return LabelledCorpus(corpus, {"threads": Counts(len(corpus), len(corpus))})
    refined = StageManifest.read(work.gold, "refine").parameters
    labels = {label.thread_id: label for label in read_lines(work.labels, Judgement)}
    replies = {reply.comment_id or "": reply.body for reply in read_replies(work.replies, read_posts(work.threads))}
    return apply_labels(corpus, labels, replies, AnswerLimits(refined["min_answers"], refined["top"]))


def _draw_all(
    work: Work, threads: Sequence[CorpusThread], options: PoolsOptions, track: Track
) -> tuple[list[PoolSet], list[str]]:
    """Draw every design. Another design that these threads cannot fill is skipped, with a note."""
    drawn: list[PoolSet] = []
    notes: list[str] = []
    outside: Mapping[str, Sequence[str]] = {}
    if Design.FRESH in options.designs:
        kinds = StageManifest.read(work.gold, "refine").parameters["kinds"]
        outside = external_titles(work, {thread.thread_id for thread in threads}, kinds)
    for position, design in enumerate(options.designs):
        try:
            drawn.append(_draw(design, threads, outside, options, track))
        except UserError as error:
            if position == 0:  # it makes the plain configurations, and no other design may take its place unasked
                raise
            notes.append(f"{design}: skipped, {error}")
    return drawn, notes


def _draw(
    design: Design,
    threads: Sequence[CorpusThread],
    outside: Mapping[str, Sequence[str]],
    options: PoolsOptions,
    track: Track,
) -> PoolSet:
    records = [thread.to_thread() for thread in threads]
    corpus = outside if design_rule(design).needs_corpus else None
    return draw_pools(records, design, corpus=corpus, distractors=options.distractors, seed=options.seed, track=track)


def _notes(pools: PoolSet) -> list[str]:
    sizes = [len(pool) for pool in pools.pools.values()]
    summary = f"{pools.design}: {len(sizes)} pools of {min(sizes)} to {max(sizes)} candidates, seed {pools.seed}"
    return [summary, *(f"{pools.design}: {note}" for note in pools.notes)]


def _remove_old_pools(work: Work, drawn: Sequence[PoolSet]) -> None:
    """Remove pools of an earlier run: they belong to other threads, or to a design that is not wanted any more."""
    for design in set(Design) - {pools.design for pools in drawn}:
        pool_file(work, design).unlink(missing_ok=True)
        manifest_path(pool_file(work, design)).unlink(missing_ok=True)
