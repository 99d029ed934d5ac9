"""What a model of sound and words has to offer; `baselines.audio_text.dual` makes a system of it."""

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

    Making one must be cheap: the weights are loaded when something is first embedded, and not at all where every
    vector is cached.

    A vector may depend on what is embedded and on nothing else, least of all on what stands beside it in a batch:
    threads are dealt to processes, and these must rank as one does. Windows come in batches that are made so; for texts
    `baselines.embedding.batches` does the same.

    Attributes:
        window_s: Length of the windows that clips are cut into, in seconds; a shorter clip is one shorter window.
        windows_at_once: Windows of a full batch.
        one_length: Whether the model itself brings shorter windows to `window_s`; otherwise all of a batch are of one
            length.
    """

    window_s: ClassVar[float]
    windows_at_once: ClassVar[int] = 16
    one_length: ClassVar[bool] = False

    @property
    @abstractmethod
    def revision(self) -> str:
        """What vectors depend on beside what is embedded: the commit or the hash of the weights, and options."""

    @property
    @abstractmethod
    def sampling_rate(self) -> int:
        """The rate of the windows in Hz, as the model's own processor asks for it."""

    @abstractmethod
    def embed_audio(self, windows: Sequence[Samples]) -> Vectors:
        """Embed windows.

        Args:
            windows: At most `windows_at_once`, each of shape (m,), mono at `sampling_rate`; of one length m unless
                `one_length` says otherwise.

        Returns:
            Shape (n, d); rows of any length, which the caller brings to 1.
        """

    @abstractmethod
    def embed_text(self, texts: Sequence[str]) -> Vectors:
        """Embed texts, batching them as the model sees fit; texts that are too long for it are cut.

        Args:
            texts: n distinct texts.

        Returns:
            Shape (n, d); rows of any length, which the caller brings to 1.
        """


class CheckpointModel(AudioTextModel):
    """One whose weights, with a processor beside them, are a checkpoint as `save_pretrained` writes it.

    Args:
        checkpoint: The checkpoint.
        context: Tells the device.
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
