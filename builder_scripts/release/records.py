"""Records of a release: the labelled corpus without removed texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from musicrs_dataset.pools import Design, read_pools
from musicrs_dataset.pools.files import NamedPools
from musicrs_dataset.records import LinkStatus, Thread
from musicrs_metric.base.genres import MACRO_COLUMN, macro_of
from musicrs_metric.base.hashing import file_sha256
from musicrs_metric.errors import UserError

from ..audio.links import Video
from ..layout import Work
from ..lines import read_lines
from ..manifest import Counts, StageManifest
from ..pools.run import pool_file
from ..refine.schema import CorpusThread, read_corpus
from .cleaning import Clean
from .takedown import Takedown, take_down


@dataclass(frozen=True)
class Corpus:
    """Content of a release.

    Attributes:
        threads: Threads without removed texts.
        records: The same threads as records of the dataset, with the pools of the first design.
        pools: Pools of the other designs.
        counts: Counts of threads, replies and links.
    """

    threads: Sequence[CorpusThread]
    records: Sequence[Thread]
    pools: Sequence[NamedPools]
    counts: Mapping[str, Counts]


def read_released(
    work: Work, manifests: Mapping[str, StageManifest], takedown: Takedown, clean: Clean, names: Clean
) -> Corpus:
    """Read the content of a release.

    Args:
        work: The work folder, with pools.
        manifests: Manifest by stage.
        takedown: Ids to remove.
        clean: Cleans posts, queries and the names in them; see `release.cleaning`.
        names: Replaces accounts in candidates by pseudonyms.

    Raises:
        UserError: No thread is left, or a file of an earlier stage is missing or damaged.
    """
    left = take_down(read_corpus(work.settled), takedown)
    if not left.threads:
        raise UserError(f"{work.settled}: no thread is left after takedown; there is nothing to release")
    first, *others = [Design(name) for name in manifests["pools"].parameters["designs"]]
    others = [design for design in others if pool_file(work, design).is_file()]  # these threads may not fill all
    pools, statuses = read_pools(pool_file(work, first)), _statuses(work)
    macros = manifests["refine"].parameters.get("macro_genres", {})

    def record(thread: CorpusThread) -> Thread:
        links = tuple(replace(link, status=statuses.get(link.video_id, "new")) for link in thread.links)
        released = thread.to_thread([names(candidate) for candidate in pools[thread.thread_id]])
        return replace(
            released,
            query=clean(thread.query),
            post=clean(thread.post),
            links=links,
            ground_truth=tuple(map(names, released.ground_truth)),
            all_entities=tuple(map(names, released.all_entities)),
            submission_entities=tuple(map(clean, released.submission_entities)),
            comments=tuple(replace(reply, entities=reply.entities.map(clean)) for reply in released.comments),
            columns=((MACRO_COLUMN, macro_of(thread.genre, macros.get(thread.genre))),) if macros else (),
        )

    thread_ids = [thread.thread_id for thread in left.threads]
    named = [_named(work, design, thread_ids, names) for design in others]
    return Corpus(left.threads, [record(thread) for thread in left.threads], named, left.counts)


def _named(work: Work, design: Design, threads: Sequence[str], names: Clean) -> NamedPools:
    file = pool_file(work, design)
    pools = read_pools(file)
    return NamedPools(
        str(design), {thread_id: tuple(map(names, pools[thread_id])) for thread_id in threads}, file_sha256(file)
    )


def _statuses(work: Work) -> dict[str, LinkStatus]:
    if not work.videos.is_file():  # stage `audio` has not been run
        return {}
    return {video.video_id: video.status for video in read_lines(work.videos, Video)}
