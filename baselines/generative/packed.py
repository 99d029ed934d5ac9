"""Score many continuations of one prompt: one forward pass over the prompt, and one over all continuations.

All continuations share one forward pass over the key-value cache of the prompt. A mask lets each attend to the prompt
and to itself only, and the positions of each continue from the prompt. So each is scored as if it were alone, and the
cache is neither copied nor padded.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
import transformers

from .language_model import Logprob

# Tokens of continuations in a forward pass. Their logits take the memory: 4 bytes times the vocabulary per token.
AT_ONCE = 512


class Prefix:
    """The key-value cache of a prompt.

    Args:
        model: A causal model of transformers, with attention that takes a mask of four dimensions (sdpa or eager).
        inputs: Arguments of its forward pass for one prompt, without padding.

    Attributes:
        length: Tokens in the cache.
    """

    def __init__(self, model: Any, inputs: dict[str, torch.Tensor]) -> None:
        # transformers renamed this argument. Some versions take both names, and warn about the first.
        self._name = "cache" if "cache" in inspect.signature(model.forward).parameters else "past_key_values"
        self._model = model
        self._window = _sliding_window(model)
        # A model with sliding windows makes a cache that forgets, and cannot be cut back. This one keeps everything.
        kept = {} if self._window is None else {self._name: transformers.DynamicCache()}
        with torch.inference_mode(), last_logits_only(model):
            output = model(**inputs, **kept, use_cache=True, return_dict=True)
        self._cache = getattr(output, self._name)
        self._next = output.logits[0, -1].float()
        self.length: int = self._cache.get_seq_length()

    def best(self, tokens: Sequence[int]) -> int:
        """Return the most likely next token among some; the first in a tie."""
        return tokens[int(self._next[torch.tensor(tokens, device=self._next.device)].argmax())]

    def extend(self, tokens: Sequence[int]) -> None:
        """Append tokens to the cache."""
        offsets = torch.arange(len(tokens))
        logits = self._forward(tokens, offsets, offsets[:, None] >= offsets)
        self._next = logits[-1].float()
        self.length += len(tokens)

    def score(
        self,
        continuations: Sequence[Sequence[int]],
        at_once: int = AT_ONCE,
        columns: Mapping[int, int] | None = None,
    ) -> list[Logprob]:
        """Score each continuation independently.

        Args:
            continuations: Token ids, at least one each.
            at_once: Most tokens of a forward pass. A longer continuation gets its own.
            columns: Token id to column of the logits, under `restricted_head`; None if they are the same.
        """
        return [logprob for chunk in _chunks(continuations, at_once) for logprob in self._score(chunk, columns)]

    def _score(self, continuations: Sequence[Sequence[int]], columns: Mapping[int, int] | None) -> list[Logprob]:
        sizes = torch.tensor([len(tokens) for tokens in continuations])
        owner = torch.repeat_interleave(torch.arange(len(sizes)), sizes)
        offsets = torch.cat([torch.arange(size) for size in sizes])
        visible = (owner[:, None] == owner) & (offsets[:, None] >= offsets)
        tokens = [token for continuation in continuations for token in continuation]
        logits = self._forward(tokens, offsets, visible).float()
        self._cache.crop(-len(tokens))  # the meaning of a positive number depends on the version
        before = logits.roll(1, dims=0)
        before[offsets == 0] = self._next.to(before)
        ids = torch.tensor([columns[token] for token in tokens] if columns else tokens, device=logits.device)
        logprobs = before.gather(1, ids[:, None])[:, 0] - before.logsumexp(1)
        totals = torch.zeros(len(sizes), dtype=torch.float64).index_add_(0, owner, logprobs.double().cpu())
        return [Logprob(*pair) for pair in zip(totals.tolist(), sizes.tolist(), strict=True)]

    def _forward(self, tokens: Sequence[int], offsets: torch.Tensor, visible: torch.Tensor) -> torch.Tensor:
        """Return the logits of tokens after the prefix. Each attends to the prefix and to its row of `visible`."""
        device, dtype = self._model.device, self._model.dtype
        visible = torch.cat([torch.ones(len(tokens), self.length, dtype=torch.bool), visible], dim=1).to(device)
        positions = self.length + offsets
        masks: Any = _additive(visible, dtype)
        if self._window is not None:
            # In the packed part a token and those of its own continuation are as far apart as their offsets.
            keys = torch.cat([torch.arange(self.length), positions])
            near = (positions[:, None] - keys < self._window).to(device)
            masks = {"full_attention": masks, "sliding_attention": _additive(visible & near, dtype)}
        with torch.inference_mode():
            output = self._model(
                input_ids=torch.tensor([list(tokens)], device=device),
                attention_mask=masks,
                position_ids=positions[None].to(device),
                use_cache=True,
                return_dict=True,
                **{self._name: self._cache},
            )
        logits: torch.Tensor = output.logits[0]
        return logits


def _additive(visible: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Return a mask of shape (1, 1, queries, keys): 0 where visible, else the lowest number."""
    mask = torch.zeros(visible.shape, dtype=dtype, device=visible.device)
    return mask.masked_fill(~visible, torch.finfo(dtype).min)[None, None]


def _sliding_window(model: Any) -> int | None:
    """Return the window of the layers with sliding attention; None if there are none."""
    config = model.config.get_text_config()
    has_window = "sliding_attention" in (getattr(config, "layer_types", None) or ())
    return config.sliding_window if has_window else None


@contextmanager
def restricted_head(model: Any, tokens: Sequence[int]) -> Iterator[None]:
    """Let a causal model compute the logits of some tokens only, in their order.

    Args:
        model: A causal model of transformers.
        tokens: Distinct token ids.
    """
    head = model.get_output_embeddings()
    rows = torch.tensor(tokens, device=head.weight.device)
    small = torch.nn.Linear(head.weight.shape[1], len(tokens), bias=head.bias is not None)
    small.weight = torch.nn.Parameter(head.weight.detach()[rows], requires_grad=False)
    if head.bias is not None:
        small.bias = torch.nn.Parameter(head.bias.detach()[rows], requires_grad=False)
    model.set_output_embeddings(small)
    try:
        yield
    finally:
        model.set_output_embeddings(head)


@contextmanager
def last_logits_only(model: Any) -> Iterator[None]:
    """Let a causal model compute the logits of the last token only: those of a long prompt take gigabytes."""
    head = model.get_output_embeddings()
    hook = head.register_forward_pre_hook(lambda _module, inputs: (inputs[0][:, -1:], *inputs[1:]))
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
