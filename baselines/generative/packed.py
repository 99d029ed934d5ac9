"""What a causal model thinks of many continuations of one prompt: one pass over the prompt, one over all of them.

The continuations stand side by side in one forward pass over the prompt's key-value cache. A mask lets each see the
prompt and itself, and positions count on from the prompt for each, so that every one of them is scored as if it stood
there alone, and the cache is neither copied nor padded.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from .language_model import Logprob

# Tokens of continuations in a forward pass: their logits are what takes memory, 4 bytes times the vocabulary each.
AT_ONCE = 512


class Prefix:
    """A prompt that a model has read.

    Args:
        model: A causal model of transformers, with attention that takes a mask of four dimensions (sdpa or eager).
        inputs: What its forward takes for one prompt, without padding.

    Attributes:
        length: Tokens in the cache.
    """

    def __init__(self, model: Any, inputs: dict[str, torch.Tensor]) -> None:
        # transformers renamed it; both names are understood for some versions, the first one warns.
        self._name = "cache" if "cache" in inspect.signature(model.forward).parameters else "past_key_values"
        self._model = model
        with torch.inference_mode(), last_logits_only(model):
            read = model(**inputs, use_cache=True, return_dict=True)
        self._cache = getattr(read, self._name)
        self._next = read.logits[0, -1].float()
        self.length: int = self._cache.get_seq_length()

    def best(self, tokens: Sequence[int]) -> int:
        """The likeliest next token of some; the first of them where several are."""
        return tokens[int(self._next[torch.tensor(tokens, device=self._next.device)].argmax())]

    def extend(self, tokens: Sequence[int]) -> None:
        """Read on."""
        offsets = torch.arange(len(tokens))
        logits = self._forward(tokens, offsets, offsets[:, None] >= offsets)
        self._next = logits[-1].float()
        self.length += len(tokens)

    def score(self, continuations: Sequence[Sequence[int]], at_once: int = AT_ONCE) -> list[Logprob]:
        """How likely each continuation is, each on its own.

        Args:
            continuations: Token numbers, at least one each.
            at_once: Most tokens of a forward pass; a longer continuation has one for itself.
        """
        return [found for some in _chunks(continuations, at_once) for found in self._score(some)]

    def _score(self, continuations: Sequence[Sequence[int]]) -> list[Logprob]:
        sizes = torch.tensor([len(tokens) for tokens in continuations])
        owner = torch.repeat_interleave(torch.arange(len(sizes)), sizes)
        offsets = torch.cat([torch.arange(size) for size in sizes])
        visible = (owner[:, None] == owner) & (offsets[:, None] >= offsets)
        tokens = [token for each in continuations for token in each]
        logits = self._forward(tokens, offsets, visible).float()
        self._cache.crop(-len(tokens))  # a positive number means the length that is kept, or nothing, by version
        before = logits.roll(1, dims=0)
        before[offsets == 0] = self._next.to(before)
        asked = torch.tensor(tokens, device=logits.device)
        found = before.gather(1, asked[:, None])[:, 0] - before.logsumexp(1)
        totals = torch.zeros(len(sizes), dtype=torch.float64).index_add_(0, owner, found.double().cpu())
        return [Logprob(*each) for each in zip(totals.tolist(), sizes.tolist(), strict=True)]

    def _forward(self, tokens: Sequence[int], offsets: torch.Tensor, visible: torch.Tensor) -> torch.Tensor:
        """Read tokens after the prefix, each of which sees it and those marked in `visible`; returns their logits."""
        device, dtype = self._model.device, self._model.dtype
        visible = torch.cat([torch.ones(len(tokens), self.length, dtype=torch.bool), visible], dim=1).to(device)
        mask = torch.zeros(visible.shape, dtype=dtype, device=device).masked_fill(~visible, torch.finfo(dtype).min)
        with torch.inference_mode():
            read = self._model(
                input_ids=torch.tensor([list(tokens)], device=device),
                attention_mask=mask[None, None],
                position_ids=(self.length + offsets)[None].to(device),
                use_cache=True,
                return_dict=True,
                **{self._name: self._cache},
            )
        logits: torch.Tensor = read.logits[0]
        return logits


@contextmanager
def last_logits_only(model: Any) -> Iterator[None]:
    """Let a causal model compute the logits of the last token alone: those of a long prompt take gigabytes."""
    head = model.get_output_embeddings()
    hook = head.register_forward_pre_hook(lambda _module, given: (given[0][:, -1:], *given[1:]))
    try:
        yield
    finally:
        hook.remove()


def _chunks(continuations: Sequence[Sequence[int]], at_once: int) -> Iterator[list[Sequence[int]]]:
    chunk: list[Sequence[int]] = []
    size = 0
    for tokens in continuations:
        if chunk and size + len(tokens) > at_once:
            yield chunk
            chunk, size = [], 0
        chunk.append(tokens)
        size += len(tokens)
    if chunk:
        yield chunk
