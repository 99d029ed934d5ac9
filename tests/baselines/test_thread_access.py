from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from baselines.run.thread_access import ThreadAccess
from baselines.system import Task
from musicrs_dataset.records import Thread
from musicrs_metric.runs.predictions import Prediction
from musicrs_metric.runs.run_card import Reads
from tests.baselines.toys import Toy, declare, run_toy, toy_data


class Peeking(Toy):
    """Looks wherever labels could be, and keeps what it finds."""

    def __init__(self, reads: Reads) -> None:
        super().__init__()
        self.declared, self.before, self.found = reads, 0, set[str]()

    @property
    def reads(self) -> Reads:
        return self.declared

    def prepare(self, threads: Sequence[Thread]) -> None:
        self.before = len(threads)
        for thread in threads:
            self.look(thread)

    def rank(self, batch: Sequence[Task]) -> list[Prediction]:
        for task in batch:
            self.look(task.thread)
            own = task.thread.thread_id
            self.found.update(f"own label of {own}" for key in [own] if key in task.labels)
            self.found.update(f"own label of {own}" for key in task.labels if key == own)
            self.found.update(label for labels in task.labels.values() for label in labels)
        return super().rank(batch)

    def look(self, thread: Thread) -> None:
        self.found.update(thread.ground_truth, thread.all_entities)
        self.found.update(song for comment in thread.comments for song in comment.entities.songs)


@pytest.mark.parametrize(("reads", "shown_before"), [("thread", 0), ("pools", 7)])
def test_a_system_that_looks_for_labels_finds_none(tmp_path: Path, reads: Reads, shown_before: int) -> None:
    """Neither before the run nor with a task is there a label to see, whatever field it looks in."""
    system = Peeking(reads)
    run_toy(system, toy_data(7), tmp_path / "run")
    assert (system.before, system.found) == (shown_before, set())


def test_a_system_that_reads_labels_sees_those_of_others_only(tmp_path: Path) -> None:
    """With one thread there is nothing to see; with several, each task lacks its own."""
    alone = Peeking("labels")
    run_toy(alone, toy_data(1), tmp_path / "one")
    assert alone.found == set()
    system = Peeking("labels")
    run_toy(system, toy_data(7), tmp_path / "run")
    assert system.found == {f"A{i}" for i in range(7)}  # each of them was another thread's


def test_asking_for_the_own_label_is_refused_in_words() -> None:
    """The mapping of labels has no own entry, by key, by iteration and by length."""
    labels = ThreadAccess(toy_data(3).threads, "labels").task(1).labels
    assert (list(labels), len(labels), labels.get("t1")) == (["t0", "t2"], 2, None)
    assert labels["t2"] == ("A2",)
    with pytest.raises(KeyError, match="does not get the ground truth of the thread that it ranks"):
        labels["t1"]


def test_what_a_task_holds_has_no_own_label_inside() -> None:
    """Not even the task's pickle names it, and what a system does to its labels reaches no other task."""
    access = ThreadAccess(toy_data(3).threads, "labels")
    one, other = (access.task(position).labels for position in (1, 2))
    assert b"A1" not in pickle.dumps(vars(one) | dict(one))
    assert isinstance(one, dict)
    one.clear()
    assert list(other) == ["t0", "t1"]


def test_the_query_and_the_pool_are_shown() -> None:
    """Stripping labels leaves everything that a system may rank by."""
    data = toy_data(2)
    shown = ThreadAccess(data.threads, "thread").task(0).thread
    assert shown == replace(data.threads[0], comments=(), ground_truth=(), all_entities=())


def test_reads_is_what_the_card_says(tmp_path: Path) -> None:
    """The card names what the system was given, not what the class declares by default."""
    assert declare().reads == "thread"
    assert run_toy(Peeking("pools"), toy_data(2), tmp_path / "run").card.reads == "pools"
