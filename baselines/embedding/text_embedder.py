"""Vectors of texts: the pooled, normalised states of a transformer. Each distinct text is embedded once."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from musicrs_metric.errors import count

from ..audio_text.checkpoints import loading_tokenizer
from ..system import Context
from .batches import embed_tokens
from .encoder_files import Encoder, read_json
from .vector_cache import VectorCache, Vectors

if TYPE_CHECKING:
    from torch import Tensor

# Weights that a checkpoint may lack, because no pooling here uses them, or hold beyond the model: other heads.
_UNUSED = (r"(.*\.)?pooler\..*", r"(.*\.)?position_ids")


class TextEmbedder:
    """Embeds texts with a model that `AutoModel` loads.

    Tokenizer and model load at first use. A text whose vector is cached needs no model.

    Args:
        encoder: The model and its settings.
        context: Context of the system, with device and cache folder.
    """

    def __init__(self, encoder: Encoder, context: Context) -> None:
        self._encoder, self._context = encoder, context
        name = f"text-{encoder.pooling}-{encoder.key}.npz"
        self._cache = VectorCache(None if context.cache is None else context.cache / name)

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Embed texts.

        Args:
            texts: n texts, repeats allowed; n at least 1.

        Returns:
            Shape (n, d): rows of length 1.

        Raises:
            ValueError: A text has no tokens, or its vector is 0 or not finite.
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

        def pooled(ids: Tensor, mask: Tensor) -> Tensor:
            states = self._model(input_ids=ids, attention_mask=mask).last_hidden_state
            return normalize(_POOLED[self._encoder.pooling](states, mask), dim=-1)

        pad = getattr(self._model.config, "pad_token_id", None) or 0
        vectors = embed_tokens(tokens, self._encoder.longest, pad, self._context.device, pooled)
        n_bad = int((~(np.linalg.norm(vectors, axis=1) > 0.5)).sum())
        if n_bad:  # never cached
            raise ValueError(f"the model gave {n_bad} of {count(len(tokens), 'text')} a vector that is 0 or not finite")
        return vectors

    @cached_property
    def _tokenizer(self) -> Any:
        return load_tokenizer(self._encoder.folder, self._encoder.max_tokens)

    @cached_property
    def _model(self) -> Any:
        import torch
        from transformers import AutoModel

        from ..generative.loading import load_pretrained

        folder, device = self._encoder.folder, self._context.device
        return load_pretrained(AutoModel, folder, device, torch.float32, ignorable=_UNUSED, allow_surplus=True)


def load_tokenizer(folder: Path, max_tokens: int) -> Any:
    """Load the tokenizer of a model, with truncation and without padding.

    Args:
        folder: Folder of the model.
        max_tokens: Longer texts are cut.

    Raises:
        UserError: The tokenizer cannot be loaded.
    """
    config = read_json(folder / "tokenizer_config.json")
    # `AutoTokenizer` wraps this tokenizer and takes seconds to import. With a full cache nothing else loads.
    # Only it adds the start and end tokens that the configuration asks for.
    with loading_tokenizer(folder):
        if (folder / "tokenizer.json").is_file() and not (config.get("add_eos_token") or config.get("add_bos_token")):
            from tokenizers import Tokenizer

            tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        else:
            from transformers import AutoTokenizer

            tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False).backend_tokenizer
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length=max_tokens)
    return tokenizer


def _mean(states: Tensor, mask: Tensor) -> Tensor:
    weight = mask[..., None].to(states.dtype)
    return (states * weight).sum(1) / weight.sum(1)


def _last(states: Tensor, mask: Tensor) -> Tensor:
    """Return the state of the last token that is no padding."""
    import torch

    return states[torch.arange(len(states), device=states.device), mask.sum(1) - 1]


_POOLED = {"mean": _mean, "cls": lambda states, _: states[:, 0], "last": _last}
