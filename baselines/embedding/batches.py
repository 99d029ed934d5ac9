"""Batches in which a vector depends only on its own input.

Threads are distributed over processes. The ranking must be the same as with one process, to the last digit, because
last digits decide near-ties. Padding changes last digits: so a text is padded to a length that depends only on its
own length, and only texts of one padded length share a batch. Libraries use another algorithm for small matrices,
which changes last digits. So a small batch is filled with repeats, on a CPU to a multiple of eight rows, elsewhere to
the full size.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from .vector_cache import Vectors

if TYPE_CHECKING:
    import torch
    from torch import Tensor

T = TypeVar("T")

# Tokens of a forward pass with padding: enough to use a processor fully, few enough for any memory.
_TOKENS_AT_ONCE = 2048
_ROWS = 8


class Batch(NamedTuple):
    """Texts of one forward pass.

    Attributes:
        indices: Indices of the texts.
        rows: The same, filled with repeats of the last. Ignore results beyond the number of indices.
        length: Padded length in tokens.
    """

    indices: list[int]
    rows: list[int]
    length: int


def by_length(tokens: Sequence[Sequence[int]], longest: int, device: torch.device) -> Iterator[Batch]:
    """Group texts into batches.

    Args:
        tokens: Texts as token ids.
        longest: Most tokens of the model.
        device: Device of the model.

    Yields:
        The batches.
    """
    groups: dict[int, list[int]] = defaultdict(list)
    for index, ids in enumerate(tokens):
        step = 8 if len(ids) <= 32 else 32
        groups[min(-(-len(ids) // step) * step, longest)].append(index)
    for length, indices in sorted(groups.items()):
        at_once = max(_ROWS, _TOKENS_AT_ONCE // length)
        for start in range(0, len(indices), at_once):
            batch = indices[start : start + at_once]
            yield Batch(batch, fill_batch(batch, at_once, device), length)


def fill_batch(rows: Sequence[T], at_once: int, device: torch.device) -> list[T]:
    """Fill a batch with repeats of its last row.

    Args:
        rows: At least one row.
        at_once: Rows of a full batch.
        device: Device of the model.
    """
    size = min(-(-len(rows) // _ROWS) * _ROWS, at_once) if device.type == "cpu" else at_once
    return [*rows, *[rows[-1]] * (size - len(rows))]


def embed_tokens(
    tokens: Sequence[Sequence[int]],
    longest: int,
    pad: int,
    device: torch.device,
    forward: Callable[..., Tensor],
    types: Sequence[Sequence[int]] | None = None,
) -> Vectors:
    """Embed texts in batches whose padding never changes a vector.

    Args:
        tokens: n texts as token ids, each with 1 to `longest` tokens.
        longest: Most tokens of the model.
        pad: Token id of the padding, on the right.
        device: Device of the model.
        forward: The model: maps token ids and mask, both of shape (m, length), to shape (m, d). With `types`, it gets
            the token types third.
        types: Token types of the texts; None if the model has none.

    Returns:
        Shape (n, d).

    Raises:
        ValueError: A text has no tokens, so that no state could stand for it.
    """
    import torch

    if not all(tokens):
        raise ValueError("an empty text, or one of unknown characters, has no tokens for this model")
    vectors: dict[int, Vectors] = {}
    for batch in by_length(tokens, longest, device):
        ids = torch.full((len(batch.rows), batch.length), pad)
        mask, kinds = torch.zeros_like(ids), torch.zeros_like(ids)
        for row, index in enumerate(batch.rows):
            ids[row, : len(tokens[index])] = torch.tensor(tokens[index])
            mask[row, : len(tokens[index])] = 1
            if types is not None:
                kinds[row, : len(types[index])] = torch.tensor(types[index])
        with torch.inference_mode():
            inputs = (ids, mask) if types is None else (ids, mask, kinds)
            embedded = forward(*(tensor.to(device) for tensor in inputs)).float().cpu().numpy()
        vectors.update(zip(batch.indices, embedded, strict=False))
    return np.stack([vectors[index] for index in range(len(tokens))])
