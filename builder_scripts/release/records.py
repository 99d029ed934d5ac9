"""What is released: the settled corpus without what was taken down, as records of the dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from musicrs_dataset.named_pools import NamedPools
from musicrs_dataset.pools import Design, read_pools
from musicrs_dataset.records import LinkStatus, Thread
from musicrs_dataset.sources import file_sha256
from musicrs_metric.errors import UserError

from ..audio.links import Video
from ..layout import Work
from ..lines import read_lines
from ..manifest import Counts, StageManifest
from ..mine.authors import Pseudonyms
from ..pools.run import pool_file
from ..refine.schema import CorpusThread, read_corpus
from .authors import without_names
from .takedown import Takedown, take_down


@dataclass(frozen=True)
class Corpus:
    """What is released.

    Attributes:
        threads: After takedown.
        records: The same as records of the dataset, with the pools of the first design.
        pools: Those of the other designs.
        counts: What became of threads, replies and links.
    """

    threads: Sequence[CorpusThread]
    records: Sequence[Thread]
    pools: Sequence[NamedPools]
    counts: Mapping[str, Counts]


def read_released(
    work: Work, manifests: Mapping[str, StageManifest], takedown: Takedown, pseudonyms: Pseudonyms
) -> Corpus:
    """Read what is to be released.

    Args:
        work: The work folder, with pools.
        manifests: By stage.
        takedown: What is to be removed.
        pseudonyms: Stand in place of names that posts and requests mention.

    Raises:
        UserError: Nothing is left, or a file of an earlier stage is missing or damaged.
    """
    left = take_down(read_corpus(work.settled), takedown)
    if not left.threads:
        raise UserError(f"{work.settled}: nothing is left of it after takedown; there is nothing to release")
    first, *others = [Design(name) for name in manifests["pools"].parameters["designs"]]
    others = [design for design in others if pool_file(work, design).is_file()]  # these threads may not fill all
    pools, statuses = read_pools(pool_file(work, first)), _statuses(work)

    def record(thread: CorpusThread) -> Thread:
        query, post = (takedown.blot(without_names(text, pseudonyms)) for text in (thread.query, thread.post))
        links = tuple(replace(link, status=statuses.get(link.video_id, "new")) for link in thread.links)
        return replace(thread.to_thread(pools[thread.thread_id]), query=query, post=post, links=links)

    kept = [thread.thread_id for thread in left.threads]
    named = [_named(work, design, kept) for design in others]
    return Corpus(left.threads, [record(thread) for thread in left.threads], named, left.counts)


def _named(work: Work, design: Design, threads: Sequence[str]) -> NamedPools:
    file = pool_file(work, design)
    pools = read_pools(file)
    return NamedPools(str(design), {thread_id: pools[thread_id] for thread_id in threads}, file_sha256(file))


def _statuses(work: Work) -> dict[str, LinkStatus]:
    if not work.videos.is_file():  # nobody has asked for them
        return {}
    return {video.video_id: video.status for video in read_lines(work.videos, Video)}
