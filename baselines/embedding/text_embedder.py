"""Texts as vectors: mean-pooled, normalised states of a BERT-like model, each distinct text embedded once."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..system import Context
from .batches import by_length
from .minilm_weights import Weights
from .vector_cache import VectorCache, Vectors


class TextEmbedder:
    """Embeds texts with a model that `AutoModel` loads.

    Tokenizer and model are loaded when they are first needed; a text whose vector is cached needs no model.

    Args:
        weights: The model.
        max_tokens: Longer texts are cut.
        context: Tells the device and the cache folder.
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
        # The key is what the model is given: a text that is not cut has one vector, whatever the limit.
        keys = [hashlib.sha256(np.asarray(ids, dtype=np.int64).tobytes()).digest() for ids in tokens]
        return self._cache.fetch(keys, lambda places: self._embed([tokens[place] for place in places]))

    def save(self) -> None:
        """Save new vectors to the cache."""
        self._cache.save()

    def _embed(self, tokens: list[list[int]]) -> Vectors:
        import torch
        from torch.nn.functional import normalize

        config, device = self._model.config, self._context.device
        vectors = np.empty((len(tokens), config.hidden_size), dtype=np.float32)
        for batch in by_length(tokens, config.max_position_embeddings, device):
            ids = torch.zeros((len(batch.rows), batch.length), dtype=torch.long)
            mask = torch.zeros_like(ids)
            for row, place in enumerate(batch.rows):
                ids[row, : len(tokens[place])] = torch.tensor(tokens[place])
                mask[row, : len(tokens[place])] = 1
            ids, mask = ids.to(device), mask.to(device)
            with torch.inference_mode():
                states = self._model(input_ids=ids, attention_mask=mask).last_hidden_state
                weight = mask[..., None].to(states.dtype)
                mean = normalize((states * weight).sum(1) / weight.sum(1), dim=-1)
            vectors[batch.places] = mean[: len(batch.places)].cpu().numpy()
        return vectors

    @cached_property
    def _tokenizer(self) -> Any:
        # `AutoTokenizer` wraps this very tokenizer, and takes seconds to import; with a full cache nothing else loads.
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
