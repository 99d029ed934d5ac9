"""A system made of a dual encoder of audio and text: it ranks titles by their similarity to the clips and the query."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from musicrs_dataset.records import Thread
from musicrs_metric.errors import UserError
from musicrs_metric.runs.predictions import Prediction

from ..data import query_of
from ..embedding.similarity import candidate_names, rank_by_similarity
from ..embedding.text_embedder import TextEmbedder
from ..embedding.vector_cache import Vectors
from ..options import option
from ..system import Context, RunFacts, System, Task
from .checkpoints import HELP, find_checkpoint
from .model import AudioTextModel, CheckpointModel
from .vectors import ClipExcerpt, ClipVectors, TextVectors, normalise


@dataclass(frozen=True)
class DualOptions:
    """Options of every such system. A system with further options inherits from this class."""

    audio_weight: float = option(0.5, "weight of the clips in audio_query, 0 to 1; the query has the rest")
    seconds: float = option(300.0, "most seconds of audio per thread, shared evenly by its clips")


class DualEncoder(System):
    """Ranks by the cosine of title and thread.

    The vector of a thread depends on the modality: the mean of its windows (each of length 1, and the mean normalised),
    its query, or normalise(w * audio + (1 - w) * query). In audio_query, a thread without clips has the vector of its
    query.

    A subclass needs only a declaration and its model.
    """

    Options: ClassVar[type[Any]] = DualOptions
    uses_audio = True

    def __init__(self, options: DualOptions, context: Context) -> None:
        super().__init__(options, context)
        if not 0 <= options.audio_weight <= 1:
            raise UserError(f"--audio-weight {options.audio_weight}: expected a number from 0 to 1")
        if not 0 < options.seconds < math.inf:
            raise UserError(f"--seconds {options.seconds}: expected a positive number")
        self._model = self.make_model()
        self._texts: TextVectors | TextEmbedder = TextVectors(self._model, context)
        self._clips = ClipVectors(self._model, context)

    @abstractmethod
    def make_model(self) -> AudioTextModel:
        """Make the model under `self.options` without loading its weights; see `AudioTextModel`."""

    def run_facts(self) -> RunFacts:
        """Return the revision of the weights and the plan of the clips."""
        plan = (
            f"the first {self.options.seconds:g} s / number of clips of each clip, in windows of "
            f"{self._model.window_s:g} s end to end, the last one ending with the clip"
        )
        has_audio = self.context.modality != "query_only"
        return RunFacts(model_revision=self._model.revision, clip_plan=plan if has_audio else None)

    def audio_used(self, thread: Thread) -> list[float]:
        """Return the share of the seconds that each clip gets."""
        return [seconds or clip.duration_s for clip, seconds in self._excerpts(thread)]

    def rank(self, batch: Sequence[Task]) -> list[Prediction]:
        """Embed the clips, queries and titles of the batch together, and rank by cosine."""
        names = candidate_names(batch)
        vectors = dict(zip(names, self._texts(names), strict=True))
        threads = self._thread_vectors([task.thread for task in batch])
        return [rank_by_similarity(task, vector, vectors) for task, vector in zip(batch, threads, strict=True)]

    def close(self) -> None:
        """Save the vectors."""
        self._texts.save()
        self._clips.save()

    def _thread_vectors(self, threads: Sequence[Thread]) -> Vectors:
        modality, weight = self.context.modality, self.options.audio_weight
        if modality == "audio_only":
            return self._audio_vectors(threads)
        queries = self._texts([query_of(thread) for thread in threads])
        if modality == "query_only":
            return queries
        indices = [index for index, thread in enumerate(threads) if thread.clips]
        if indices:
            audio = self._audio_vectors([threads[index] for index in indices])
            queries[indices] = normalise(weight * audio + (1 - weight) * queries[indices])
        return queries

    def _audio_vectors(self, threads: Sequence[Thread]) -> Vectors:
        excerpts = [self._excerpts(thread) for thread in threads]
        rows = iter(self._clips([excerpt for of_thread in excerpts for excerpt in of_thread]))
        return normalise(np.stack([sum(next(rows) for _ in of_thread) for of_thread in excerpts]))

    def _excerpts(self, thread: Thread) -> list[ClipExcerpt]:
        """Share the seconds evenly among the clips, each from its start."""
        clips = thread.clips or ()
        share = self.options.seconds / max(len(clips), 1)
        return [ClipExcerpt(clip, share if clip.duration_s > share else None) for clip in clips]


@dataclass(frozen=True)
class CheckpointOptions(DualOptions):
    """Options of a dual encoder with one checkpoint. A system sets its own `weights`."""

    weights: str = option("", HELP)


class CheckpointEncoder(DualEncoder):
    """A dual encoder whose weights are one checkpoint.

    Attributes:
        Model: Class of the model; a call with checkpoint and context makes one.
    """

    Options = CheckpointOptions
    Model: ClassVar[type[CheckpointModel]]

    def __init__(self, options: CheckpointOptions, context: Context) -> None:
        super().__init__(options, context)
        self.declaration = self.declaration.for_weights(options.weights)

    def make_model(self) -> AudioTextModel:
        """Make the model of the checkpoint."""
        return self.Model(find_checkpoint(self.options.weights), self.context)
