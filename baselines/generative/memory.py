"""Estimate the memory of a model, and recognise when a device has none left."""

from __future__ import annotations

import gc
import re
from typing import NamedTuple

from .audio_limits import AudioLimits

_ACTIVATIONS_GIB = 1.0  # of a forward pass over a long prompt, without the cache
# A scored token has a logit for each entry of a vocabulary, in the model's format and twice in float32.
_VOCABULARY, _BYTES_PER_LOGIT = 160_000, 10
# Messages of a CPU under Linux and Windows, of CUDA outside the allocator of torch, of its libraries, and of Apple
# GPUs.
_NO_MEMORY = re.compile(
    "can't allocate memory|not enough memory|CUDA error: out of memory|_STATUS_ALLOC_FAILED|MPS backend out of memory"
)


class Memory(NamedTuple):
    """An estimate of memory, in GiB.

    Attributes:
        weights: Memory of the weights.
        cache: Memory of the key-value cache of the fullest thread, times the threads per batch.
        candidates: Memory of the logits of all candidates that are scored together.
        activations: Memory of a forward pass.
    """

    weights: float
    cache: float
    candidates: float
    activations: float = _ACTIVATIONS_GIB

    @classmethod
    def of(cls, limits: AudioLimits, tokens: int, *, rows: int = 1, scored: int = 0, width: int = 2) -> Memory:
        """Estimate the memory of a model.

        Args:
            limits: Limits of the model.
            tokens: Tokens of the fullest thread.
            rows: Threads per batch, times the beams of a search.
            scored: Tokens of candidates in one forward pass.
            width: Bytes per number, 2 in bfloat16.
        """
        cache = tokens * rows * limits.cache_kib_per_token / 2**20
        candidates = scored * _VOCABULARY * _BYTES_PER_LOGIT / 2**30
        return cls(limits.weights_gib * width / 2 + limits.float32_gib, cache * width / 2, candidates)

    @property
    def total(self) -> float:
        """Sum of all parts."""
        return sum(self)

    def __str__(self) -> str:
        return (
            f"{self.total:.1f} GiB: weights {self.weights:.1f}, key-value cache {self.cache:.1f}, candidates "
            f"{self.candidates:.1f}, activations {self.activations:.1f}"
        )


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether a device or the machine has no memory left. torch reports this in several ways."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    return isinstance(error, RuntimeError) and _NO_MEMORY.search(str(error)) is not None


def release() -> None:
    """Free the memory of a failed attempt."""
    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
