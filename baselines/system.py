"""What a system is: what it declares about itself, what it is given, and the two calls that the runner makes.

A system of your own is a class in a file of your own, say `mine.py`. This one is complete:

    from baselines.system import Declaration, System

    class ShortTitles(System):
        declaration = Declaration(
            name="short_titles", paradigm="traditional", modalities=("query_only",), reads="thread",
            description="Ranks titles by their length, the shortest first.",
        )

        def rank(self, batch):
            return [task.by_score([-len(title) for title in task.thread.candidates]) for task in batch]

In the folder of the file, `python -m baselines run --model mine:ShortTitles --dataset data --out runs/short_titles`
runs it. Those in `baselines.systems` show the rest: options, models, clips.
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

# What is done with a thread that has no clip; see `baselines.run.missing_audio`.
MissingAudio = Literal["zero", "text", "error"]

ALL_MODALITIES: tuple[Modality, ...] = ("audio_query", "query_only", "audio_only")


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """What a system says about itself before anything heavy is loaded.

    Attributes:
        name: What tables call it.
        paradigm: How it ranks.
        modalities: What of a thread it can be given.
        reads: Data that it uses beyond its own thread; it gets nothing else (`baselines.run.thread_access`).
        description: One line: how it ranks.
        note: What a reader of its score has to know.
        needs: Packages that it imports beyond the core.
        extra: The extra of this project that brings them.
        model_id: Hub id or another public name of its model.
        licence: Licence of the weights.
        open_weights: Whether anyone can download them; None where there are none.
        trained: Whether it was trained or tuned for this task.
        batch_size: Threads given to `rank` at once, where the user does not say.
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
        """What a system says of itself under weights that the user names.

        Args:
            source: A Hub id, with @REVISION or without, or a path, which is taken for a copy of the declared model.

        Returns:
            The same, but that another model of the Hub has a name of its own, and a licence that nobody knows here.
        """
        name = source.partition("@")[0]
        if name == self.model_id or Path(source).exists():
            return self
        return replace(self, model_id=name, licence=None)


@dataclass(frozen=True)
class NoOptions:
    """The options of a system that has none. Others declare a frozen dataclass of the same kind; see `options`."""


@dataclass(frozen=True, kw_only=True)
class Context:
    """What the runner hands to every system.

    Attributes:
        modality: What of the threads the system is given.
        seed: Seed of everything random; derive one per thread with `musicrs_metric.base.seeds`.
        cache: Folder for what may be reused between runs.
        missing_audio: What is done with a thread that has no clip; None where the system hears nothing.
    """

    modality: Modality
    seed: int = 0
    cache: Path | None = None
    missing_audio: MissingAudio | None = None

    @cached_property
    def device(self) -> torch.device:
        """The device of this process, as accelerate assigns it."""
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
        """Rank the pool by score, best first, ties by place in the pool.

        Args:
            scores: One finite number per candidate.
        """
        values = np.asarray(scores, dtype=np.float64)
        try:
            ranking = rank_by_score(self.thread.candidates, values)
        except UserError as error:  # the system's failure on this thread, and nothing that its user could mend
            raise ValueError(f"thread {plain(self.thread.thread_id)}: {error}") from error
        return Prediction(self.thread.thread_id, tuple(ranking), tuple(np.sort(values)[::-1].tolist()))


@dataclass(frozen=True, kw_only=True)
class RunFacts:
    """What is known of a run before it starts; part of its identity, and copied to its card.

    Attributes:
        model_revision: Commit, version or content hash of the weights.
        protocol: How rankings are asked for.
        prompt_hash: sha256 of the prompt.
        clip_plan: How clips are chosen and cut.
        extra: What else the card is to hold, in plain JSON types; of it, `number_format` alone is part of the identity.
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
        declaration: What it says about itself, of the class; an instance may have one of its own under its options.
        Options: Its options, a frozen dataclass whose fields have defaults and, in their metadata, a "help" line.
        uses_audio: Whether it listens to the clips where the modality has them.
        failures_are_temporary: Whether a failure may pass, as that of a server does: the same command then ranks failed
            threads again.
    """

    declaration: Declaration
    Options: ClassVar[type[Any]] = NoOptions
    uses_audio: ClassVar[bool] = False
    failures_are_temporary: ClassVar[bool] = False

    def __init__(self, options: Any, context: Context) -> None:
        self.options = options
        self.context = context

    @property
    def reads(self) -> Reads:
        """What it reads under its options."""
        return self.declaration.reads

    def inspect_threads(self, threads: Sequence[Thread]) -> None:  # noqa: B027 - most systems need no plan
        """Look over the whole dataset before the run, in order to plan for the longest thread; loads no weights.

        Every system is shown it, whatever it reads: lengths may be learnt here, and nothing of what the texts say.

        Args:
            threads: All threads, without labels and without the bytes of their clips.
        """

    def run_facts(self) -> RunFacts:
        """What its options, its weights and its survey make of the run; loads no weights."""
        return RunFacts()

    def audio_used(self, thread: Thread) -> list[float]:
        """How much of each clip reaches the model: not what is left out, nor what the model itself would cut off.

        Args:
            thread: A thread; the bytes of its clips may be absent.

        Returns:
            Seconds, one number per clip.
        """
        return [clip.duration_s for clip in thread.clips or ()]

    def cost(self, thread: Thread) -> float:  # noqa: ARG002 - most systems take as long for any
        """How much there is to do for a thread, as the survey found; the costliest are ranked first, like with like."""
        return 0.0

    def describe_run(self, thread: Thread, batch_size: int) -> list[str]:  # noqa: ARG002 - most systems have nothing to tell
        """What the user may want to know before a run, in lines; loads no weights.

        Args:
            thread: The first of the dataset, without labels and without the bytes of its clips.
            batch_size: Threads at once.
        """
        return []

    def estimate(self, threads: Sequence[Thread]) -> list[str]:  # noqa: ARG002 - most systems cost nothing
        """What it takes to rank some threads, such as tokens and their price, in lines; loads no weights.

        Args:
            threads: Those that the run would rank, without labels and without the bytes of their clips.
        """
        return []

    def prepare(self, threads: Sequence[Thread]) -> None:  # noqa: B027 - some systems have nothing to prepare
        """Load what is needed, and learn what may be learnt from other threads.

        A run in several orders of the pools prepares and closes the same system once per order.

        Args:
            threads: All threads without labels where the system reads "pools" or "labels"; none where it reads
                "thread".
        """

    @abstractmethod
    def rank(self, batch: Sequence[Task]) -> list[Prediction]:
        """Rank the pools of some threads.

        The answer to a thread must not depend on the batch it comes in, nor on the order of batches: threads are
        dealt to processes, and a run that was stopped goes on with what is left.

        Args:
            batch: At least one task.

        Returns:
            One prediction per task, in the order of the batch. An exception makes the runner try the threads one by
            one; those that fail again are recorded as failed.
        """

    def take_answer_records(self) -> list[dict[str, Any]]:
        """What is to be kept of the answers given since the last call, beside the predictions.

        Returns:
            At most one JSON object per thread, with its `thread_id`; counts in a `ledger` are added up in the run card.
        """
        return []

    def warnings(self) -> list[str]:
        """What the user should know of the answers given since the last call, in lines."""
        return []

    def findings(self) -> dict[str, Any]:
        """What the run has found out and the card is to keep, in plain JSON types; asked after `prepare`."""
        return {}

    def throughput(self) -> str:
        """How fast it goes, in a few words for the progress bar, such as tokens a second."""
        return ""

    def close(self) -> None:  # noqa: B027 - most systems have nothing to put away
        """Put away what outlives the run, such as caches."""
