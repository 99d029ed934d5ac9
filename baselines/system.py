"""The contract of a system: its declaration, its input, and the calls that the runner makes.

A system of your own is a class in a file of your own, for example `mine.py`. This one is complete:

    from baselines.system import Declaration, System

    class ShortTitles(System):
        declaration = Declaration(
            name="short_titles", paradigm="traditional", modalities=("query_only",), reads="thread",
            description="Ranks titles by their length, the shortest first.",
        )

        def rank(self, batch):
            return [task.by_score([-len(title) for title in task.thread.candidates]) for task in batch]

In the folder of the file, `python -m baselines run --model mine:ShortTitles --dataset data --out runs/short_titles`
runs it. The systems in `baselines.systems` show options, models and clips.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from musicrs_dataset.records import Thread
from musicrs_metric.errors import UserError, plain
from musicrs_metric.runs.predictions import Prediction
from musicrs_metric.runs.ranking import rank_by_score
from musicrs_metric.runs.run_card import Modality, Paradigm, Reads

if TYPE_CHECKING:
    import torch

# Policies for threads without clips; see `baselines.run.missing_audio`.
MissingAudio = Literal["zero", "text", "error"]

ALL_MODALITIES: tuple[Modality, ...] = ("audio_query", "query_only", "audio_only")

# Names of version 0.1. A system that still used them would silently run with the defaults.
_RENAMED = {
    "hears": "uses_audio",
    "heard": "audio_used",
    "survey": "inspect_threads",
    "facts": "run_facts",
    "outlook": "describe_run",
    "notes": "take_answer_records",
    "pace": "throughput",
    "failures_pass": "failures_are_temporary",
}


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """Description of a system that is available before anything heavy is loaded.

    Attributes:
        name: Name of the system in tables.
        paradigm: Kind of system.
        modalities: Modalities that the system supports.
        reads: Data that the system uses beyond its own thread. It gets no other data (`baselines.run.thread_access`).
        description: How the system ranks, in one line.
        note: Facts that readers of its score must know.
        needs: Packages that it imports beyond the core.
        extra: Extra of this project that installs them.
        model_id: Hub id or another public name of its model.
        licence: Licence of the weights.
        open_weights: Whether everyone can download the weights; None if there are none.
        trained: Whether the system was trained or tuned for this task.
        batch_size: Threads per batch by default.
    """

    name: str
    paradigm: Paradigm
    modalities: tuple[Modality, ...]
    reads: Reads
    description: str
    note: str = ""
    needs: tuple[str, ...] = ()
    extra: str = "baselines"
    model_id: str | None = None
    licence: str | None = None
    open_weights: bool | None = None
    trained: bool = False
    batch_size: int = 32

    def for_weights(self, source: str) -> Declaration:
        """Return the declaration for weights that the user named.

        Args:
            source: A Hub id, with or without @REVISION, or a path. A path counts as a copy of the declared model.

        Returns:
            The same declaration. Another model of the Hub has its own name, and its licence is unknown.
        """
        name = source.partition("@")[0]
        if name == self.model_id or Path(source).exists():
            return self
        return replace(self, model_id=name, licence=None)


@dataclass(frozen=True)
class NoOptions:
    """Options of a system that has none. Other systems declare a frozen dataclass; see `baselines.options`."""


@dataclass(frozen=True, kw_only=True)
class Context:
    """Settings of a run that every system gets.

    Attributes:
        modality: Data of the threads that the system gets.
        seed: Seed of all random choices. Derive one seed per thread with `musicrs_metric.base.seeds`.
        cache: Folder for data that later runs can reuse.
        missing_audio: Policy for threads without clips; None if the system uses no clips.
    """

    modality: Modality
    seed: int = 0
    cache: Path | None = None
    missing_audio: MissingAudio | None = None

    @cached_property
    def device(self) -> torch.device:
        """Device of this process, as accelerate assigns it."""
        from .run.processes import device

        return device()


@dataclass(frozen=True)
class Task:
    """One thread to rank.

    Attributes:
        thread: The thread without its labels.
        labels: Ground truth of the other threads by thread id; empty unless the system reads labels.
    """

    thread: Thread
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def by_score(self, scores: Sequence[float] | npt.NDArray[np.floating[Any]]) -> Prediction:
        """Rank the pool by score, best first. Ties keep the order of the pool.

        Args:
            scores: One finite number per candidate.
        """
        values = np.asarray(scores, dtype=np.float64)
        try:
            ranking = rank_by_score(self.thread.candidates, values)
        except UserError as error:  # a failure of the system on this thread, not a mistake of its user
            raise ValueError(f"thread {plain(self.thread.thread_id)}: {error}") from error
        return Prediction(self.thread.thread_id, tuple(ranking), tuple(np.sort(values)[::-1].tolist()))


@dataclass(frozen=True, kw_only=True)
class RunFacts:
    """Facts about a run that are known before it starts. They are part of its identity and of its card.

    Attributes:
        model_revision: Commit, version or content hash of the weights.
        protocol: Protocol that asks for rankings.
        prompt_hash: sha256 of the prompt.
        clip_plan: How clips are chosen and cut.
        extra: Further fields of the card, in plain JSON types. Only `number_format` is part of the identity.
    """

    model_revision: str | None = None
    protocol: str | None = None
    prompt_hash: str | None = None
    clip_plan: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


class System(ABC):
    """A system that ranks pools.

    Args:
        options: An instance of its `Options`.
        context: See `Context`.

    Attributes:
        declaration: Declaration of the class. An instance may replace it according to its options.
        Options: A frozen dataclass whose fields are declared with `baselines.options.option`.
        uses_audio: Whether the system uses the clips in modalities that have them.
        failures_are_temporary: Whether a later attempt may succeed, as with a server. The same command then ranks
            failed threads again.
    """

    declaration: Declaration
    Options: ClassVar[type[Any]] = NoOptions
    uses_audio: ClassVar[bool] = False
    failures_are_temporary: bool = False

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        for old, new in _RENAMED.items():
            if old in vars(cls):
                raise UserError(f"system {cls.__name__}: defines {old}, which is now called {new}; rename it")

    def __init__(self, options: Any, context: Context) -> None:
        self.options = options
        self.context = context

    @property
    def reads(self) -> Reads:
        """Data that the system uses beyond its own thread, under its options."""
        return self.declaration.reads

    def inspect_threads(self, threads: Sequence[Thread]) -> None:  # noqa: B027 - most systems need no plan
        """Inspect the whole dataset before the run, for example to plan for the longest thread. Load no weights.

        Every system gets all threads here, whatever it reads. Use lengths only, never the content of the texts.

        Args:
            threads: All threads, without labels and without the bytes of their clips.
        """

    def run_facts(self) -> RunFacts:
        """Return facts that follow from the options, the weights and `inspect_threads`. Load no weights."""
        return RunFacts()

    def audio_used(self, thread: Thread) -> list[float]:
        """Return the length of each clip that reaches the model, without parts that the model would drop.

        Args:
            thread: A thread. The bytes of its clips may be absent.

        Returns:
            Seconds, one number per clip.
        """
        return [clip.duration_s for clip in thread.clips or ()]

    def cost(self, thread: Thread) -> float:  # noqa: ARG002 - most systems take as long for any
        """Return the amount of work for a thread. The runner ranks expensive threads first, next to similar ones."""
        return 0.0

    def describe_run(self, thread: Thread, batch_size: int) -> list[str]:  # noqa: ARG002 - most systems have no details
        """Return lines that a user may want to read before a run. Load no weights.

        Args:
            thread: The first thread of the dataset, without labels and without the bytes of its clips.
            batch_size: Threads per batch.
        """
        return []

    def estimate(self, threads: Sequence[Thread]) -> list[str]:  # noqa: ARG002 - most systems cost nothing
        """Return lines about the effort of a run, such as tokens and their price. Load no weights.

        Args:
            threads: The threads that the run would rank, without labels and without the bytes of their clips.
        """
        return []

    def prepare(self, threads: Sequence[Thread]) -> None:  # noqa: B027 - some systems have nothing to prepare
        """Load the model, and learn from the other threads.

        A run in several orders of the pools prepares and closes the same system once per order.

        Args:
            threads: All threads without labels if the system reads "pools" or "labels"; none if it reads "thread".
        """

    @abstractmethod
    def rank(self, batch: Sequence[Task]) -> list[Prediction]:
        """Rank the pools of some threads.

        The prediction for a thread must not depend on the rest of the batch, nor on the order of batches: the runner
        distributes threads over processes, and a resumed run ranks only the remaining threads.

        Args:
            batch: At least one task.

        Returns:
            One prediction per task, in the order of the batch. If this method raises, the runner tries the threads one
            by one. A thread that fails again is recorded as failed.
        """

    def take_answer_records(self) -> list[dict[str, Any]]:
        """Return and clear the records of the answers since the last call, for `answers.jsonl`.

        Returns:
            At most one JSON object per thread, with its `thread_id`. The run card holds the sum of each count in
            `ledger`.
        """
        return []

    def warnings(self) -> list[str]:
        """Return and clear warnings about the answers since the last call, as lines for the user."""
        return []

    def findings(self) -> dict[str, Any]:
        """Return fields for the run card that are known after `prepare`, in plain JSON types."""
        return {}

    def throughput(self) -> str:
        """Return the speed for the progress bar, such as tokens per second."""
        return ""

    def close(self) -> None:  # noqa: B027 - most systems have nothing to save
        """Save data that outlives the run, such as caches."""
