"""What a model takes of a device's memory, and what to do when there is none left."""

from __future__ import annotations

import gc
from typing import NamedTuple

from .ears import Ears

_ACTIVATIONS_GIB = 1.0  # of a forward pass over a long prompt, beside the cache


class Memory(NamedTuple):
    """An estimate, in GiB.

    Attributes:
        weights: Of the weights in bfloat16.
        cache: Of the key-value cache of a full batch of the fullest thread.
        beside: Of activations and logits.
    """

    weights: float
    cache: float
    beside: float

    @classmethod
    def of(cls, ears: Ears, tokens: int, batch_size: int) -> Memory:
        """Estimate what a batch takes.

        Args:
            ears: Of the model.
            tokens: Of the fullest thread.
            batch_size: Threads at once.
        """
        return cls(ears.weights_gib, tokens * batch_size * ears.cache_kib_per_token / 2**20, _ACTIVATIONS_GIB)

    @property
    def total(self) -> float:
        """All of it."""
        return self.weights + self.cache + self.beside

    def __str__(self) -> str:
        return (
            f"{self.total:.1f} GiB: {self.weights:.1f} weights in bfloat16, {self.cache:.1f} key-value cache, "
            f"{self.beside:.1f} activations and logits"
        )


def is_out_of_memory(error: BaseException) -> bool:
    """Whether a device or the machine has no memory left; torch says so in several ways."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    return isinstance(error, RuntimeError) and "not enough memory" in str(error)  # of a CPU


def release() -> None:
    """Give back what a failed attempt held."""
    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
