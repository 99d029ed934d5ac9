"""Systems that misbehave on purpose, and small datasets to run them on."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from baselines.data import Data, as_references
from baselines.options import option
from baselines.run.processes import Processes
from baselines.run.reporter import Reporter
from baselines.run.runner import Plan, RunResult, run
from baselines.system import Context, Declaration, System, Task
from musicrs_dataset.records import Comment, Entities, Thread
from musicrs_metric.base.seeds import shuffled
from musicrs_metric.runs.predictions import Prediction
from musicrs_metric.runs.run_card import Reads

ROOT = Path(__file__).parents[2]
# The systems that need neither sound nor a download.
OF_TEXT = ("random", "file_order", "popularity", "neighborhood", "lexical", "minilm")
Command = Callable[..., subprocess.CompletedProcess[str]]


def thread(name: str, candidates: Sequence[str], truth: Sequence[str] = (), **fields: Any) -> Thread:
    """A thread of which the test says only what it is about."""
    given: dict[str, Any] = {
        "subreddit": "jazz",
        "genre": "Jazz",
        "query": f"query of {name}",
        "post": None,
        "submission_entities": (),
        "comments": (Comment("t1_a", 1.0, Entities(songs=tuple(truth))),),
        "all_entities": tuple(truth),
        "links": (),
    }
    return Thread(thread_id=name, candidates=tuple(candidates), ground_truth=tuple(truth), **(given | fields))


def toy_data(n: int = 7) -> Data:
    """Threads t0, t1, ... of five candidates each."""
    threads = [thread(f"t{i}", [f"{letter}{i}" for letter in "ABCDE"], [f"A{i}"]) for i in range(n)]
    return Data(threads, as_references(threads, "toy", "query_only"))


def run_toy(system: System, data: Data, out: Path, **options: Any) -> RunResult:
    """Run a system in this process."""
    name = options.pop("system_name", "toy")
    plan = Plan(system=system, system_name=name, data=data, out=out, **options)
    result = run(plan, Processes(), Reporter())
    assert result is not None
    return result


def declare(reads: Reads = "thread") -> Declaration:
    return Declaration(
        name="toy", paradigm="traditional", modalities=("query_only",), reads=reads, description="A toy.", batch_size=3
    )


@dataclass(frozen=True)
class ToyOptions:
    delay: float = option(0.0, "seconds per thread")
    fail: str | None = option(None, "thread to fail on, or 'all'")


class Toy(System):
    """Shuffles slowly, and fails on a thread of choice."""

    declaration = declare()
    Options = ToyOptions

    def __init__(self, options: ToyOptions | None = None, context: Context | None = None) -> None:
        super().__init__(options or ToyOptions(), context or Context(modality="query_only"))
        self.asked: list[str] = []
        self.closed = False

    def rank(self, batch: Sequence[Task]) -> list[Prediction]:
        return [self.answer(task) for task in batch]

    def answer(self, task: Task) -> Prediction:
        name = task.thread.thread_id
        self.asked.append(name)
        time.sleep(self.options.delay)
        if self.options.fail in (name, "all"):
            raise RuntimeError(f"no luck with {name}")
        return Prediction(name, tuple(shuffled(task.thread.candidates, self.context.seed, name, "toy")))

    def close(self) -> None:
        self.closed = True
