"""The words of a prompt: free of control tokens, in the family's turns, with a place for every vector of sound."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor


def without_controls(text: str, tokenizer: Any) -> str:
    """Take a tokenizer's control tokens out of a text, so that nobody's post can end a turn or pose as sound.

    Args:
        text: Words of others.
        tokenizer: A tokenizer of transformers; what was added to its vocabulary counts as control.

    Returns:
        The text with a space in place of each, so that what stands around one does not become another.
    """
    tokens = sorted({*tokenizer.get_added_vocab(), *tokenizer.all_special_tokens}, key=len, reverse=True)
    return re.sub("|".join(map(re.escape, tokens)), " ", text) if tokens else text


def chatml(user: str, system: str | None = None) -> str:
    """A request in the turns of ChatML, up to where the answer begins.

    Args:
        user: The request.
        system: What the model is told of itself; None for nothing.
    """
    turns = ([] if system is None else [("system", system)]) + [("user", user)]
    return "".join(f"<|im_start|>{role}\n{words}<|im_end|>\n" for role, words in turns) + "<|im_start|>assistant\n"


def places(token: str, counts: Sequence[int], before: str = "", after: str = "") -> str:
    """The places of some clips in a prompt.

    Args:
        token: What stands for one vector of sound.
        counts: How many vectors each clip has.
        before: What stands before each clip.
        after: What stands behind it.
    """
    return "".join(f"{before}{token * count}{after}" for count in counts)


def left_padded(tokenizer: Any, texts: Sequence[str]) -> dict[str, Tensor]:
    """Prompts as `input_ids` and `attention_mask`, both of shape (n, longest), filled up on the left.

    An answer has to follow its prompt at once, whatever side the tokenizer was saved with.
    """
    found = tokenizer(list(texts), padding=True, padding_side="left", return_tensors="pt")
    return {name: found[name] for name in ("input_ids", "attention_mask")}
