"""A system made of a model of sound and words: candidates whose names lie closest to the clips and the query."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from ..options import option
from ..system import Context, System
from .model import AudioTextModel


@dataclass(frozen=True)
class DualOptions:
    """Options of every such system; one with more of them inherits from this class."""

    audio_weight: float = option(0.5, "share of the clips in audio_query, 0 to 1; the rest is the query's")
    seconds: float = option(300.0, "most seconds of a thread that are heard, shared evenly by its clips")


class DualEncoder(System):
    """Ranks by the cosine of candidate name and thread.

    A thread is, by modality, the mean of its windows (each brought to length 1 before, and the mean after), its query,
    or normalise(w * audio + (1 - w) * query).

    A subclass declares itself and makes its model; nothing else.
    """

    Options = DualOptions

    def __init__(self, options: DualOptions, context: Context) -> None:
        super().__init__(options, context)
        self._model = self.make_model()

    @abstractmethod
    def make_model(self) -> AudioTextModel:
        """The model under `self.options`, on `self.context.device`; cheap, see `AudioTextModel`."""
