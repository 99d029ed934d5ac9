"""Stage `refine` on a work folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from ..layout import Work, require
from ..manifest import hash_file, hash_files
from ..pipeline.stage import StageOutput, StageResult, run_stage
from .genres import genre_table, macro_table, require_genres
from .merges import Key, Merge, Spellings, propose, read_merges, write_merges
from .options import RefineOptions
from .schema import write_corpus
from .stage import count_spellings, refine
from .tables import read_conversations

STAGE = "refine"


def run(work: Work, options: RefineOptions, track: Callable[[list[Key]], Iterable[Key]] = iter) -> StageResult:
    """Make `gold/corpus.jsonl` and `gold/merges.csv`, unless they are finished.

    Args:
        work: The work folder, with the output of `extract` and `queries`.
        options: Number and kind of answers, and genres.
        track: Shows progress over the titles.

    Returns:
        The manifest, and whether it is new. The stage runs again if `merges.csv` has changed.

    Raises:
        UserError: An earlier stage is missing, a line of `merges.csv` is not of its form, or a subreddit has no genre.
    """
    genres = genre_table(options.genres, "--genre")
    macros = macro_table(options.macro_genres, genres, "--macro-genre")
    parameters = options.model_dump(mode="json", exclude={"macro_genres"}) | {"genres": genres}
    if macros:  # work folders of earlier versions have no such parameter
        parameters["macro_genres"] = macros
    tables = (
        *require((work.threads, work.replies), "threads"),
        *require((work.entities,), "extract"),
        *require((work.queries,), "queries"),
    )

    def body(_: Path) -> StageOutput:
        conversations = read_conversations(work)
        require_genres((conversation.subreddit for conversation in conversations), genres, "--genre {}=GENRE")
        threads = count_spellings(conversations)
        known = read_merges(work.merges)
        merges = [*known, *propose(threads, known, track)]
        refined = refine(conversations, Spellings(threads, merges), options, genres)
        write_merges(work.merges, merges, threads)
        write_corpus(work.corpus, refined.threads)
        return StageOutput((work.corpus, work.merges), refined.counts, [_note(merges, len(merges) - len(known))])

    return run_stage(
        STAGE, work.gold, hash_files(tables), parameters, body,
        packages=("rapidfuzz",), is_current=lambda last: hash_file(work.merges, below=work.gold) in last.outputs,
    )  # fmt: skip


def _note(merges: list[Merge], n_new: int) -> str:
    decisions = Counter(merge.decision for merge in merges)
    return (
        f"{decisions['merge']:,} titles are written as another, {decisions['keep']:,} that look like another are kept; "
        f"{n_new:,} of these lines of merges.csv are new"
    )
