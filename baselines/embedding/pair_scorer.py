"""Scores of pairs of query and candidate under a reranker: a head on a transformer, or the logits of "yes" and "no".

The score of a cross-encoder is its logit, or with two labels the difference of both. A Qwen3-Reranker is a causal
language model. It gets the prompt of its authors, which asks whether the document meets the request. Its score is the
logit of "yes" less that of "no". Its conversion to a head with one label gets the same prompt.

Source of prompt and score: Zhang et al., Qwen3 Embedding, arXiv 2506.05176, and the model card of Qwen3-Reranker-0.6B.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from musicrs_metric.errors import UserError, show

from ..audio_text.checkpoints import check_tokenizer, find_checkpoint
from ..system import Context
from .batches import embed_tokens
from .encoder_files import MAX_TOKENS, default_tokens, longest_input, read_json
from .text_embedder import load_tokenizer

if TYPE_CHECKING:
    from torch import Tensor

INSTRUCTION = "Given a request for music, judge whether the song, artist or album suits it"
_BEFORE = (
    "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct "
    'provided. Note that the answer can only be "yes" or "no".<|im_end|>\n<|im_start|>user\n'
)
_AFTER = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"
_LONGEST_PROMPT = 8192


class PairScorer:
    """Scores pairs with a checkpoint of transformers, which loads at first use.

    Args:
        source: See `baselines.audio_text.checkpoints.HELP`.
        instruction: Task of a Qwen3-Reranker; None for `INSTRUCTION`.
        max_tokens: Most tokens of a pair. Longer pairs lose the end of the longer text, and a Qwen3-Reranker refuses
            them. None for the model's own limit, at most 512 or 8,192 tokens.
        context: Context of the system.

    Raises:
        UserError: The checkpoint is missing or is no reranker, or the limit exceeds the model's.
    """

    def __init__(self, source: str, instruction: str | None, max_tokens: int | None, context: Context) -> None:
        checkpoint = find_checkpoint(source)
        check_tokenizer(checkpoint.folder)
        self.folder, self.revision, self._context = checkpoint.folder, checkpoint.revision, context
        config = read_json(self.folder / "config.json")
        architecture = str((config.get("architectures") or ["none"])[0])
        self._is_causal = architecture.endswith("ForCausalLM")
        self._is_qwen3_reranker = config.get("model_type") == "qwen3"
        if not (architecture.endswith("ForSequenceClassification") or (self._is_causal and self._is_qwen3_reranker)):
            raise UserError(
                f"--weights {source}: a checkpoint of {show(architecture)}; expected a sequence classification head or "
                "a Qwen3-Reranker; text_encoder takes encoders, causal_lm takes language models"
            )
        labels = len(config.get("id2label") or {}) or int(config.get("num_labels") or 2)
        if not self._is_causal and labels > 2:
            raise UserError(
                f"--weights {source}: a head with {labels} labels; expected one, or irrelevant and relevant"
            )
        if instruction is not None and not self._is_qwen3_reranker:
            raise UserError("--instruction: only a Qwen3-Reranker takes one; leave it out")
        self._instruction = INSTRUCTION if instruction is None else instruction
        longest = longest_input(config)
        at_most = _LONGEST_PROMPT if self._is_qwen3_reranker else MAX_TOKENS
        self.max_tokens = default_tokens(self.folder, longest, at_most) if max_tokens is None else max_tokens
        self._longest = longest
        if not 8 <= self.max_tokens <= longest:
            raise UserError(f"--max-tokens {self.max_tokens}: expected 8 to {longest}, the most that the model takes")

    def score(self, pairs: Sequence[tuple[str, str]]) -> npt.NDArray[np.float64]:
        """Score pairs, in batches of one padded length each.

        Args:
            pairs: n pairs of query and candidate; n at least 1.

        Returns:
            Shape (n,): logits, larger for a better match.

        Raises:
            ValueError: A prompt exceeds the limit.
        """
        if self._is_qwen3_reranker:
            encodings = self._tokenizer.encode_batch([self.prompt(*pair) for pair in pairs], add_special_tokens=False)
            longest = max(len(encoding.ids) for encoding in encodings)
            if longest > self.max_tokens:
                raise ValueError(f"the prompt takes {longest} tokens, more than the {self.max_tokens} of --max-tokens")
        else:
            encodings = self._tokenizer.encode_batch(list(pairs))
        tokens = [encoding.ids for encoding in encodings]
        types = [encoding.type_ids for encoding in encodings] if self._has_types else None
        pad, device = self._model.config.pad_token_id or 0, self._context.device
        logits = embed_tokens(tokens, self._longest, pad, device, self._forward, types).astype(np.float64)
        return logits[:, -1] - (logits[:, 0] if logits.shape[1] == 2 else 0)

    def prompt(self, query: str, candidate: str) -> str:
        """Return the prompt of a Qwen3-Reranker."""
        query, candidate = (text.replace("<|", "< |") for text in (query, candidate))  # no control tokens in texts
        return f"{_BEFORE}<Instruct>: {self._instruction}\n<Query>: {query}\n<Document>: {candidate}{_AFTER}"

    def _forward(self, ids: Tensor, mask: Tensor, types: Tensor | None = None) -> Tensor:
        import torch

        extra = {} if types is None else {"token_type_ids": types}
        if not self._is_causal:
            logits: Tensor = self._model(input_ids=ids, attention_mask=mask, **extra).logits
            return logits
        states = self._model.model(input_ids=ids, attention_mask=mask).last_hidden_state
        last = states[torch.arange(len(states), device=states.device), mask.sum(1) - 1]
        head = self._model.get_output_embeddings()
        return torch.nn.functional.linear(last, head.weight[self._answers])

    @cached_property
    def _answers(self) -> list[int]:
        """Tokens of "no" and "yes"."""
        tokens = [self._tokenizer.token_to_id(word) for word in ("no", "yes")]
        if None in tokens:
            raise UserError(
                f"--weights {self.folder}: its tokenizer has no token 'yes' or 'no'; expected a Qwen3-Reranker"
            )
        return tokens

    @cached_property
    def _has_types(self) -> bool:
        return getattr(self._model.config, "type_vocab_size", 0) > 1

    @cached_property
    def _tokenizer(self) -> Any:
        tokenizer = load_tokenizer(self.folder, self.max_tokens)
        if self._is_qwen3_reranker:
            tokenizer.no_truncation()
        return tokenizer

    @cached_property
    def _model(self) -> Any:
        import torch
        import transformers

        from ..generative.loading import load_pretrained

        cls = transformers.AutoModelForCausalLM if self._is_causal else transformers.AutoModelForSequenceClassification
        ignorable = (r"(.*\.)?position_ids",)
        model = load_pretrained(cls, self.folder, self._context.device, torch.float32, ignorable=ignorable)
        if not self._is_causal and model.config.pad_token_id is None:
            model.config.pad_token_id = self._tokenizer.token_to_id("<|endoftext|>") if self._is_qwen3_reranker else 0
        return model
