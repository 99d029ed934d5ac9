"""A system made of a model of sound and words: candidates whose names lie closest to the clips and the query."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from musicrs_dataset.records import Thread
from musicrs_metric.errors import UserError
from musicrs_metric.runs.predictions import Prediction

from ..embedding.similarity import candidate_names, rank_by_similarity
from ..embedding.text_embedder import TextEmbedder
from ..embedding.vector_cache import Vectors
from ..options import option
from ..system import Context, RunFacts, System, Task
from ..texts import query_of
from .model import AudioTextModel
from .vectors import ClipExcerpt, ClipVectors, TextVectors, normalise


@dataclass(frozen=True)
class DualOptions:
    """Options of every such system; one with more of them inherits from this class."""

    audio_weight: float = option(0.5, "share of the clips in audio_query, 0 to 1; the rest is the query's")
    seconds: float = option(300.0, "most seconds of a thread that are heard, shared evenly by its clips")


class DualEncoder(System):
    """Ranks by the cosine of candidate name and thread.

    A thread is, by modality, the mean of its windows (each brought to length 1 before, and the mean after), its query,
    or normalise(w * audio + (1 - w) * query). In audio_query a thread without clips is its query.

    A subclass declares itself and makes its model; nothing else.
    """

    Options = DualOptions
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
        """The model under `self.options`, for `self.context.device`; cheap, see `AudioTextModel`."""

    def run_facts(self) -> RunFacts:
        """The revision of the weights, and what is heard."""
        plan = (
            f"the first {self.options.seconds:g} s / number of clips of each clip, in windows of "
            f"{self._model.window_s:g} s end to end, the last one ending with the clip"
        )
        uses_audio = self.context.modality != "query_only"
        return RunFacts(model_revision=self._model.revision, clip_plan=plan if uses_audio else None)

    def audio_used(self, thread: Thread) -> list[float]:
        """A clip is heard up to its share of the time."""
        return [seconds or clip.duration_s for clip, seconds in self._excerpts(thread)]

    def rank(self, batch: Sequence[Task]) -> list[Prediction]:
        """Embed the clips, queries and names of the batch together, and rank by cosine."""
        names = candidate_names(batch)
        vectors = dict(zip(names, self._texts(names), strict=True))
        asked = self._asked([task.thread for task in batch])
        return [rank_by_similarity(task, vector, vectors) for task, vector in zip(batch, asked, strict=True)]

    def close(self) -> None:
        """Save the vectors."""
        self._texts.save()
        self._clips.save()

    def _asked(self, threads: Sequence[Thread]) -> Vectors:
        modality, weight = self.context.modality, self.options.audio_weight
        if modality == "audio_only":
            return self._heard(threads)
        queries = self._texts([query_of(thread) for thread in threads])
        if modality == "query_only":
            return queries
        places = [place for place, thread in enumerate(threads) if thread.clips]
        if places:
            heard = self._heard([threads[place] for place in places])
            queries[places] = normalise(weight * heard + (1 - weight) * queries[places])
        return queries

    def _heard(self, threads: Sequence[Thread]) -> Vectors:
        excerpts = [self._excerpts(thread) for thread in threads]
        rows = iter(self._clips([excerpt for of_thread in excerpts for excerpt in of_thread]))
        return normalise(np.stack([sum(next(rows) for _ in of_thread) for of_thread in excerpts]))

    def _excerpts(self, thread: Thread) -> list[ClipExcerpt]:
        """The clips share the time evenly, each from its start."""
        clips = thread.clips or ()
        share = self.options.seconds / max(len(clips), 1)
        return [ClipExcerpt(clip, share if clip.duration_s > share else None) for clip in clips]
