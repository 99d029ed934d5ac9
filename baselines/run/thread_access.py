"""What a system gets to see: the one place that gives it what it declares to read, and nothing else.

reads     `prepare` gets                  a task holds
thread    nothing                         its own thread without labels
pools     every thread without labels     its own thread without labels
labels    every thread without labels     that, and the ground truth of the other threads, never its own

`System.survey` is shown every thread without labels, whatever a system declares: lengths may be learnt there.

This guards against mistakes: a system does not come upon labels in what it is handed. It is no wall against code that
goes looking for them, which runs in the same process and could as well read the dataset's files.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from musicrs_dataset.records import Clip, Thread
from musicrs_metric.runs.run_card import Reads

from ..system import Task


class ThreadAccess:
    """Shows a dataset to a system as far as it declares to read it.

    Args:
        threads: The dataset, labels included.
        reads: What the system declares.
        clips: Reads the clips of the thread at a place; None where the threads hold what there is to hear.
    """

    def __init__(
        self, threads: Sequence[Thread], reads: Reads, clips: Callable[[int], tuple[Clip, ...]] | None = None
    ) -> None:
        self._threads, self._clips = threads, clips
        self._reads = reads
        self._truth = {thread.thread_id: thread.ground_truth for thread in threads} if reads == "labels" else {}

    def for_prepare(self) -> list[Thread]:
        """What `System.prepare` is given."""
        return [] if self._reads == "thread" else [thread.without_labels() for thread in self._threads]

    def task(self, position: int) -> Task:
        """The thread at a place of the dataset, as `System.rank` is given it."""
        thread = self._threads[position].without_labels()
        if thread.clips and self._clips is not None:
            thread = replace(thread, clips=self._clips(position))
        return Task(thread, _Others(self._truth, thread.thread_id) if self._truth else {})


class _Others(dict[str, tuple[str, ...]]):
    """The ground truth of all threads but one: a copy that does not hold the own labels anywhere."""

    def __init__(self, truth: dict[str, tuple[str, ...]], own: str) -> None:
        super().__init__(truth)
        self.pop(own, None)
        self._own = own

    def __missing__(self, thread_id: str) -> tuple[str, ...]:
        if thread_id == self._own:
            raise KeyError(f"{thread_id}: a system is not shown the ground truth of the thread that it ranks")
        raise KeyError(thread_id)
