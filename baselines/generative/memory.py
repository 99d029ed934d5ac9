"""What a model takes of a device's memory, and what to do when there is none left."""

from __future__ import annotations

import gc
import re
from typing import NamedTuple

from .audio_limits import AudioLimits

_ACTIVATIONS_GIB = 1.0  # of a forward pass over a long prompt, beside the cache
# A scored token has a logit for each entry of a vocabulary, in the model's format and twice in float32.
_VOCABULARY, _BYTES_PER_LOGIT = 160_000, 10
# Of a CPU under Linux and Windows, of CUDA outside of torch's own allocator, of CUDA's libraries, of Apple's GPU.
_NO_MEMORY = re.compile(
    "can't allocate memory|not enough memory|CUDA error: out of memory|_STATUS_ALLOC_FAILED|MPS backend out of memory"
)


class Memory(NamedTuple):
    """An estimate, in GiB.

    Attributes:
        weights: Of the weights.
        cache: Of the key-value cache of the fullest thread, times the number of threads at once.
        candidates: Of the logits of all candidates that are scored together.
        activations: Of a forward pass.
    """

    weights: float
    cache: float
    candidates: float
    activations: float = _ACTIVATIONS_GIB

    @classmethod
    def of(cls, limits: AudioLimits, tokens: int, *, rows: int = 1, scored: int = 0, width: int = 2) -> Memory:
        """Estimate what a model takes.

        Args:
            limits: Of the model.
            tokens: Of the fullest thread.
            rows: Threads at once, times the beams of a search.
            scored: Tokens of candidates in one forward pass.
            width: Bytes of a number, 2 in bfloat16.
        """
        cache = tokens * rows * limits.cache_kib_per_token / 2**20
        candidates = scored * _VOCABULARY * _BYTES_PER_LOGIT / 2**30
        return cls(limits.weights_gib * width / 2 + limits.float32_gib, cache * width / 2, candidates)

    @property
    def total(self) -> float:
        """All of it."""
        return sum(self)

    def __str__(self) -> str:
        return (
            f"{self.total:.1f} GiB: weights {self.weights:.1f}, key-value cache {self.cache:.1f}, candidates "
            f"{self.candidates:.1f}, activations {self.activations:.1f}"
        )


def is_out_of_memory(error: BaseException) -> bool:
    """Whether a device or the machine has no memory left; torch says so in several ways."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    return isinstance(error, RuntimeError) and _NO_MEMORY.search(str(error)) is not None


def release() -> None:
    """Give back what a failed attempt held."""
    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
