"""Stage `refine` on a work folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from time import perf_counter

from ..layout import Work, require
from ..manifest import StageManifest, hash_file, hash_files, is_done, versions_of
from .genres import require_genres
from .merges import Key, Merge, Spellings, propose, read_merges, write_merges
from .schema import write_corpus
from .stage import Rules, count_spellings, refine
from .tables import read_conversations

STAGE = "refine"


def run(work: Work, rules: Rules, track: Callable[[list[Key]], Iterable[Key]] = iter) -> tuple[StageManifest, bool]:
    """Make `gold/corpus.jsonl`, and `gold/merges.csv` or what is new in it, unless they are there.

    Args:
        work: The work folder, with what `extract` and `queries` made.
        rules: What to keep.
        track: Shows progress over the titles.

    Returns:
        The manifest, and whether anything had to be done. A change in `merges.csv` is something to do.

    Raises:
        UserError: An earlier stage is missing, a line of `merges.csv` is not as it should be, or a subreddit has no
            genre.
    """
    began = perf_counter()
    tables = (
        *require((work.threads, work.replies), "threads"),
        *require((work.entities,), "extract"),
        *require((work.queries,), "queries"),
    )
    inputs = hash_files(tables)
    parameters = rules.to_dict()
    if is_done(work.gold, STAGE, parameters, inputs) and _untouched(work):
        return StageManifest.read(work.gold, STAGE), False
    conversations = read_conversations(work)
    require_genres((one.subreddit for one in conversations), rules.genres, "--genre {}=GENRE")
    threads = count_spellings(conversations)
    known = read_merges(work.merges)
    merges = [*known, *propose(threads, known, track)]
    refined = refine(conversations, Spellings(threads, merges), rules)
    write_merges(work.merges, merges, threads)
    write_corpus(work.corpus, refined.threads)
    manifest = StageManifest(
        stage=STAGE,
        inputs=inputs,
        outputs=hash_files((work.corpus, work.merges), below=work.gold),
        parameters=parameters,
        counts=refined.counts,
        wall_s=perf_counter() - began,
        notes=[_note(merges, len(merges) - len(known))],
        versions=versions_of(("rapidfuzz",)),
    )
    manifest.write(work.gold)
    return manifest, True


def _untouched(work: Work) -> bool:
    made = StageManifest.read(work.gold, STAGE).outputs
    return hash_file(work.merges, below=work.gold) in made


def _note(merges: list[Merge], n_new: int) -> str:
    decisions = Counter(merge.decision for merge in merges)
    return (
        f"{decisions['merge']:,} titles are written as another, {decisions['keep']:,} that look like another are kept; "
        f"{n_new:,} of these lines of merges.csv are new"
    )
