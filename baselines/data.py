"""A dataset in the form that a run needs: the threads, and the same threads as references to score against."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from musicrs_dataset.records import Clip, Thread
from musicrs_metric.base.genres import MACRO_COLUMN, macro_of
from musicrs_metric.errors import UserError
from musicrs_metric.runs.references import References
from musicrs_metric.runs.run_card import Modality

PUBLISHED = "published"
Swap = Literal["shuffled-audio", "shuffled-query"]


class Control(NamedTuple):
    """The exchange of inputs in a control run; see `baselines.run.control`.

    Attributes:
        swap: The input that comes from another thread.
        n_other_genre: Number of threads whose input comes from another genre, because theirs has no other thread.
    """

    swap: Swap
    n_other_genre: int


class PoolOrder(NamedTuple):
    """One of several seeded orders of the pools; see `baselines.run.shuffles`.

    Attributes:
        number: Number of this order, from 1.
        of: Number of orders.
    """

    number: int
    of: int

    def __str__(self) -> str:
        return f"order {self.number} of {self.of}"


class Data(NamedTuple):
    """A dataset.

    Attributes:
        threads: The threads in dataset order, labels included.
        references: The same threads as references.
        pools: Name of the pool design.
        clips: Reads the clips of the thread at an index, if `threads` hold clips without their bytes.
        control: The exchange of inputs; None if each thread holds its own.
        order: Order of the pools in `threads`, while `references` keep the stored order. None for the stored order.
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
        modality: Data of a thread that the system uses. The configuration of the same name holds just this data.
        pools: Pool design.

    Raises:
        UserError: The dataset, the configuration or the pool design does not exist.
    """
    from musicrs_dataset.audio.lazy_clips import LazyClips
    from musicrs_dataset.loading import iter_threads

    config = modality if pools == PUBLISHED else f"{modality}_{pools}"
    threads = list(iter_threads(dataset, config, audio=False))
    clips = None if modality == "query_only" else LazyClips(dataset, config)
    return Data(threads, as_references(threads, dataset, config), pools, clips)


def as_references(threads: Sequence[Thread], name: str, config: str) -> References:
    """Make references from threads in memory.

    Args:
        threads: The threads in dataset order.
        name: Name of the dataset.
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
            "macro": [macro_of(thread.genre, dict(thread.columns).get(MACRO_COLUMN)) for thread in threads],
        }
        | {
            column: [dict(thread.columns).get(column, "") for thread in threads]
            for column in (dict(threads[0].columns) if threads else ())
        },
    )


def query_of(thread: Thread) -> str:
    """Return the query of a thread.

    Raises:
        UserError: The configuration of the dataset has no queries.
    """
    if thread.query is None:
        raise UserError(f"thread {thread.thread_id}: has no query; use a configuration that has them, query_only")
    return thread.query
