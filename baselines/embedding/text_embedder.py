"""Vectors of texts: mean-pooled, normalised states of a BERT-like model. Each distinct text is embedded once."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..system import Context
from .batches import embed_tokens
from .minilm_weights import Weights
from .vector_cache import VectorCache, Vectors

if TYPE_CHECKING:
    from torch import Tensor


class TextEmbedder:
    """Embeds texts with a model that `AutoModel` loads.

    Tokenizer and model load at first use. A text whose vector is cached needs no model.

    Args:
        weights: The model.
        max_tokens: Longer texts are cut.
        context: Context of the system, with device and cache folder.
    """

    def __init__(self, weights: Weights, max_tokens: int, context: Context) -> None:
        self._weights, self._max_tokens, self._context = weights, max_tokens, context
        name = f"text-mean-{weights.sha256[:16]}.npz"
        self._cache = VectorCache(None if context.cache is None else context.cache / name)

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Embed texts.

        Args:
            texts: n texts, repeats allowed; n at least 1.

        Returns:
            Shape (n, d): rows of length 1.
        """
        tokens = [encoding.ids for encoding in self._tokenizer.encode_batch(list(texts))]
        # The key hashes the tokens: a text that is not cut has one vector, whatever the limit.
        keys = [hashlib.sha256(np.asarray(ids, dtype=np.int64).tobytes()).digest() for ids in tokens]
        return self._cache.fetch(keys, lambda indices: self._embed([tokens[index] for index in indices]))

    def save(self) -> None:
        """Save new vectors to the cache."""
        self._cache.save()

    def _embed(self, tokens: list[list[int]]) -> Vectors:
        from torch.nn.functional import normalize

        def mean_state(ids: Tensor, mask: Tensor) -> Tensor:
            states = self._model(input_ids=ids, attention_mask=mask).last_hidden_state
            weight = mask[..., None].to(states.dtype)
            return normalize((states * weight).sum(1) / weight.sum(1), dim=-1)

        longest = self._model.config.max_position_embeddings
        return embed_tokens(tokens, longest, 0, self._context.device, mean_state)

    @cached_property
    def _tokenizer(self) -> Any:
        # `AutoTokenizer` wraps this tokenizer and takes seconds to import. With a full cache nothing else loads.
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(self._weights.folder / "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.enable_truncation(max_length=self._max_tokens)
        return tokenizer

    @cached_property
    def _model(self) -> Any:
        from transformers import AutoModel
        from transformers.utils import logging

        logging.disable_progress_bar()  # the runner shows its own
        return AutoModel.from_pretrained(self._weights.folder).eval().to(self._context.device)
