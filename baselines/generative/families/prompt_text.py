"""Parts of prompt texts: removal of control tokens, ChatML turns, audio placeholders, padding on the left."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor


def control_pattern(tokenizer: Any) -> re.Pattern[str] | None:
    """Return a pattern of the control tokens of a tokenizer, so that no post can end a turn or pose as audio.

    Replace each match with a space: then the text around one cannot become another. A tokenizer may have thousands of
    control tokens, such as Gemma's, so a model keeps the pattern.

    Args:
        tokenizer: A tokenizer of transformers. All tokens added to its vocabulary count as control tokens.

    Returns:
        The pattern; None if there are no control tokens.
    """
    tokens = sorted({*tokenizer.get_added_vocab(), *tokenizer.all_special_tokens}, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, tokens))) if tokens else None


def chatml(user: str, system: str | None = None) -> str:
    """Write a request in ChatML, up to the start of the answer.

    Args:
        user: The request.
        system: System prompt; None for none.
    """
    turns = ([] if system is None else [("system", system)]) + [("user", user)]
    return "".join(f"<|im_start|>{role}\n{text}<|im_end|>\n" for role, text in turns) + "<|im_start|>assistant\n"


def audio_placeholders(token: str, counts: Sequence[int], before: str = "", after: str = "") -> str:
    """Write the placeholders of some clips.

    Args:
        token: Placeholder of one audio vector.
        counts: Number of vectors of each clip.
        before: Marker before each clip.
        after: Marker after each clip.
    """
    return "".join(f"{before}{token * count}{after}" for count in counts)


def left_padded(tokenizer: Any, texts: Sequence[str]) -> dict[str, Tensor]:
    """Return prompts as `input_ids` and `attention_mask`, both of shape (n, longest), padded on the left.

    An answer must directly follow its prompt, whatever padding side the tokenizer was saved with.
    """
    encoded = tokenizer(list(texts), padding=True, padding_side="left", return_tensors="pt")
    return {name: encoded[name] for name in ("input_ids", "attention_mask")}
