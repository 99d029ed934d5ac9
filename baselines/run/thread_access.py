"""Data access of a system: it gets the data that it declares to read, and nothing else.

reads     `prepare` gets                  a task holds
thread    nothing                         its own thread without labels
pools     every thread without labels     its own thread without labels
labels    every thread without labels     also the ground truth of the other threads, never its own

`System.inspect_threads` gets every thread without labels, whatever a system declares: it may use their lengths.

This guards against mistakes: a system does not find labels in its input. It does not stop code that searches for them,
which runs in the same process and could also read the files of the dataset.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from musicrs_dataset.records import Clip, Thread
from musicrs_metric.runs.run_card import Reads

from ..system import Task


class ThreadAccess:
    """Gives a system the parts of a dataset that it declares to read.

    Args:
        threads: The dataset, labels included.
        reads: Declaration of the system.
        clips: Reads the clips of the thread at an index; None if the threads hold the bytes of their clips.
    """

    def __init__(
        self, threads: Sequence[Thread], reads: Reads, clips: Callable[[int], tuple[Clip, ...]] | None = None
    ) -> None:
        self._threads, self._clips = threads, clips
        self._reads = reads
        self._truth = {thread.thread_id: thread.ground_truth for thread in threads} if reads == "labels" else {}

    def for_prepare(self) -> list[Thread]:
        """Return the threads for `System.prepare`."""
        return [] if self._reads == "thread" else [thread.without_labels() for thread in self._threads]

    def task(self, position: int) -> Task:
        """Return the task of the thread at an index of the dataset, for `System.rank`."""
        thread = self._threads[position].without_labels()
        if thread.clips and self._clips is not None:
            thread = replace(thread, clips=self._clips(position))
        return Task(thread, _Others(self._truth, thread.thread_id) if self._truth else {})


class _Others(dict[str, tuple[str, ...]]):
    """Copy of the ground truth of all threads but one."""

    def __init__(self, truth: dict[str, tuple[str, ...]], own: str) -> None:
        super().__init__(truth)
        self.pop(own, None)
        self._own = own

    def __missing__(self, thread_id: str) -> tuple[str, ...]:
        if thread_id == self._own:
            raise KeyError(f"{thread_id}: a system does not get the ground truth of the thread that it ranks")
        raise KeyError(thread_id)
