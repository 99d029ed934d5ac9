"""Text encoder of the Hub or of a folder, for the adversaries that compare texts by meaning."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from musicrs_metric.base.hub_errors import missing_file_reason
from musicrs_metric.errors import UserError

from .resemblance import Embed

_BATCH, _MAX_TOKENS = 64, 256


def load_encoder(source: str) -> Embed:
    """Load a text encoder with mean pooling.

    Args:
        source: Folder or Hub id, such as `sentence-transformers/all-MiniLM-L6-v2`.

    Returns:
        Texts to mean vectors of their tokens, at most 256 tokens per text. Each distinct text is embedded once.

    Raises:
        UserError: torch or transformers is not installed, or there is no such model.
    """
    try:
        import torch
        from transformers import AutoModel, AutoTokenizer
    except ImportError as error:
        raise UserError(
            f"--encoder {source}: needs {error.name}, which is not installed; pip install torch transformers, or audit "
            "without --encoder, which compares candidates by spelling only"
        ) from None
    try:
        tokenizer, model = AutoTokenizer.from_pretrained(source), AutoModel.from_pretrained(source).eval()
    except (OSError, ValueError) as error:
        raise UserError(
            f"--encoder {source}: expected a folder or Hub id of a text encoder ({missing_file_reason(error)})"
        ) from error
    known: dict[str, npt.NDArray[np.floating]] = {}

    def embed(texts: Sequence[str]) -> npt.NDArray[np.floating]:
        new = sorted(dict.fromkeys(text for text in texts if text not in known), key=len)
        for start in range(0, len(new), _BATCH):
            batch = new[start : start + _BATCH]
            tokens = tokenizer(batch, padding=True, truncation=True, max_length=_MAX_TOKENS, return_tensors="pt")
            with torch.inference_mode():
                states = model(**tokens).last_hidden_state
            mask = tokens["attention_mask"][..., None]
            known.update(zip(batch, ((states * mask).sum(dim=1) / mask.sum(dim=1)).numpy(), strict=True))
        return np.stack([known[text] for text in texts])

    return embed
