"""A dataset as a run needs it: the threads, and the same threads as labels to score against."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from musicrs_dataset.records import Clip, Thread
from musicrs_metric.base.genres import macro_of
from musicrs_metric.runs.references import References
from musicrs_metric.runs.run_card import Modality

PUBLISHED = "published"
Swap = Literal["shuffled-audio", "shuffled-query"]


class Control(NamedTuple):
    """What the threads of a control run were given in place of their own; see `baselines.run.control`.

    Attributes:
        swap: Which input is another thread's.
        n_other_genre: Threads that got it from another genre, because they are alone in theirs.
    """

    swap: Swap
    n_other_genre: int


class PoolOrder(NamedTuple):
    """One of several seeded orders in which the pools are shown; see `baselines.run.shuffles`.

    Attributes:
        number: From 1.
        of: How many there are.
    """

    number: int
    of: int

    def __str__(self) -> str:
        return f"order {self.number} of {self.of}"


class Data(NamedTuple):
    """A dataset.

    Attributes:
        threads: In dataset order, labels included.
        references: The same threads as labels.
        pools: Name of the candidate pools.
        clips: Reads the clips of the thread at a place, where `threads` hold them without their bytes.
        control: What `threads` hold of each other; None where each holds its own.
        order: Order in which `threads` hold their pools, whose stored order `references` keep; None for that one.
    """

    threads: Sequence[Thread]
    references: References
    pools: str = PUBLISHED
    clips: Callable[[int], tuple[Clip, ...]] | None = None
    control: Control | None = None
    order: PoolOrder | None = None


def load_data(dataset: str, modality: Modality, pools: str = PUBLISHED) -> Data:
    """Load the configuration of a dataset that belongs to a modality.

    Args:
        dataset: Directory or name.
        modality: What of the threads a system is given; the configuration of that name holds just that.
        pools: Name of the pools, where the dataset has others beside the published ones.

    Raises:
        UserError: No such dataset, configuration or pools.
    """
    from musicrs_dataset.audio.lazy_clips import StoredClips
    from musicrs_dataset.loading import iter_threads

    config = modality if pools == PUBLISHED else f"{modality}_{pools}"
    threads = list(iter_threads(dataset, config, audio=False))
    clips = None if modality == "query_only" else StoredClips(dataset, config)
    return Data(threads, as_references(threads, dataset, config), pools, clips)


def as_references(threads: Sequence[Thread], name: str, config: str) -> References:
    """The labels of threads that are in memory already.

    Args:
        threads: In dataset order.
        name: What to call the dataset.
        config: Its configuration.
    """
    return References(
        name=name,
        config=config,
        thread_ids=[thread.thread_id for thread in threads],
        candidates=[thread.candidates for thread in threads],
        ground_truth=[thread.ground_truth for thread in threads],
        groups={
            "genre": [thread.genre for thread in threads],
            "subreddit": [thread.subreddit for thread in threads],
            "macro": [macro_of(thread.genre) for thread in threads],
        },
    )
