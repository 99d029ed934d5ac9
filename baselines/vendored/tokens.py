"""Texts through a model in batches; padding never changes a vector (see `baselines.embedding.batches`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from ..embedding.batches import by_length
from ..embedding.vector_cache import Vectors


def embed_tokens(
    tokens: Sequence[Sequence[int]],
    longest: int,
    pad: int,
    device: torch.device,
    forward: Callable[[Tensor, Tensor], Tensor],
) -> Vectors:
    """Embed texts.

    Args:
        tokens: n texts as token numbers, each at least 1 and at most `longest` long.
        longest: The most tokens that the model takes.
        pad: The number that texts are padded with, on the right.
        device: Where the model is.
        forward: The model: takes token numbers and mask, both of shape (m, length), and returns shape (m, d).

    Returns:
        Shape (n, d).
    """
    vectors: dict[int, Vectors] = {}
    for places, rows, length in by_length(tokens, longest, device):
        ids = torch.full((len(rows), length), pad)
        mask = torch.zeros_like(ids)
        for row, place in enumerate(rows):
            ids[row, : len(tokens[place])] = torch.tensor(tokens[place])
            mask[row, : len(tokens[place])] = 1
        with torch.inference_mode():
            found = forward(ids.to(device), mask.to(device)).float().cpu().numpy()
        vectors.update(zip(places, found, strict=False))
    return np.stack([vectors[place] for place in range(len(tokens))])
