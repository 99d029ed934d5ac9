"""One set of rotary factors from the first token of an exchange to the last, for models that have two (LongRoPE).

Such a model turns its keys by one set of factors up to a length (4,096 tokens in Phi-4), and by another beyond it; keys
in a cache stay as they were turned. So the answers to a prompt that ends just below that length would see it turned
otherwise than themselves. Here the set is chosen once, by the length that the exchange may reach.

Source: Ding et al., LongRoPE, arXiv 2402.13753.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def steady_factors(rotary: Any, beyond: int) -> Iterator[None]:
    """Choose the factors once, in the first pass.

    Args:
        rotary: The module of transformers that turns positions into angles; it looks at the largest one to choose.
        beyond: Tokens that may follow the first pass.
    """
    import torch

    reach: list[int] = []

    def show_the_end(_: Any, given: tuple[Any, ...], named: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        positions = named["position_ids"] if "position_ids" in named else given[1]
        if not reach:
            reach.append(int(positions.max()) + beyond)
        end = positions.new_full((*positions.shape[:-1], 1), reach[0])
        return given[:1], {**named, "position_ids": torch.cat([positions, end], dim=-1)}

    def take_it_away(_: Any, __: Any, angles: tuple[Any, Any]) -> tuple[Any, Any]:
        cos, sin = angles
        return cos[..., :-1, :], sin[..., :-1, :]

    hooks = [
        rotary.register_forward_pre_hook(show_the_end, with_kwargs=True),
        rotary.register_forward_hook(take_it_away),
    ]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
