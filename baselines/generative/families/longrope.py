"""One set of rotary factors for a whole prompt and its answer, for models that have two sets (LongRoPE).

Such a model rotates its keys with one set of factors up to a length (4,096 tokens in Phi-4), and with another beyond
it. Keys in a cache keep their rotation. So an answer that starts just below that length would be rotated otherwise than
its prompt. Here the set is chosen once, by the length that prompt and answer may reach.

Source: Ding et al., LongRoPE, arXiv 2402.13753.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def steady_factors(rotary: Any, beyond: int) -> Iterator[None]:
    """Choose the factors once, in the first forward pass.

    Args:
        rotary: Module of transformers that turns positions into angles. It chooses by the largest position.
        beyond: Tokens that may follow the first pass.
    """
    import torch

    reach: list[int] = []

    def append_end(_: Any, inputs: tuple[Any, ...], named: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        positions = named["position_ids"] if "position_ids" in named else inputs[1]
        if not reach:
            reach.append(int(positions.max()) + beyond)
        end = positions.new_full((*positions.shape[:-1], 1), reach[0])
        return inputs[:1], {**named, "position_ids": torch.cat([positions, end], dim=-1)}

    def remove_end(_: Any, __: Any, angles: tuple[Any, Any]) -> tuple[Any, Any]:
        cos, sin = angles
        return cos[..., :-1, :], sin[..., :-1, :]

    hooks = [
        rotary.register_forward_pre_hook(append_end, with_kwargs=True),
        rotary.register_forward_hook(remove_end),
    ]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
