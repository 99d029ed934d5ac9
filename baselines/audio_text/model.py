"""The interface of a model of audio and text; `baselines.audio_text.dual` makes a system of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar

from musicrs_dataset.audio.cutting import Samples

from ..embedding.vector_cache import Vectors
from ..system import Context
from .checkpoints import Checkpoint


class AudioTextModel(ABC):
    """A model that embeds audio and text into one space.

    The constructor loads no weights. They load at the first vector that is not cached.

    A vector must depend only on its own text or audio, never on the rest of a batch: threads are distributed over
    processes, and the ranking must be the same as with one process. The caller forms such batches of windows; for texts
    `baselines.embedding.batches` does the same.

    Attributes:
        window_s: Length of the windows into which clips are cut, in seconds. A shorter clip is one shorter window.
        windows_at_once: Windows of a full batch.
        one_length: Whether the model pads shorter windows to `window_s` itself. If not, all windows of a batch have one
            length.
    """

    window_s: ClassVar[float]
    windows_at_once: ClassVar[int] = 16
    one_length: ClassVar[bool] = False

    @property
    @abstractmethod
    def revision(self) -> str:
        """Commit or hash of the weights, with all options that change vectors."""

    @property
    @abstractmethod
    def sampling_rate(self) -> int:
        """Sampling rate of the windows in Hz, as the processor of the model expects it."""

    @abstractmethod
    def embed_audio(self, windows: Sequence[Samples]) -> Vectors:
        """Embed windows.

        Args:
            windows: At most `windows_at_once`, each of shape (m,), mono at `sampling_rate`. All have one length m
                unless `one_length` is true.

        Returns:
            Shape (n, d). The caller normalises the rows.
        """

    @abstractmethod
    def embed_text(self, texts: Sequence[str]) -> Vectors:
        """Embed texts in batches of its own. Texts that are too long for the model are cut.

        Args:
            texts: n distinct texts.

        Returns:
            Shape (n, d). The caller normalises the rows.
        """


class CheckpointModel(AudioTextModel):
    """A model whose weights and processor are a checkpoint as `save_pretrained` writes it.

    Args:
        checkpoint: The checkpoint.
        context: Context of its system, with the device.
    """

    def __init__(self, checkpoint: Checkpoint, context: Context) -> None:
        self._checkpoint, self._context = checkpoint, context

    @property
    def revision(self) -> str:
        """Commit or hash of the weights."""
        return self._checkpoint.revision

    @cached_property
    def _tokenizer(self) -> Any:
        from transformers import AutoTokenizer

        return AutoTokenizer.from_pretrained(self._checkpoint.folder)
