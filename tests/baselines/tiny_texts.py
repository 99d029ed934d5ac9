"""Tiny text encoders, rerankers and language models of random weights, saved as the real ones are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.baselines.tiny_lm import CHATML, tiny_tokenizer

WORDS = "can you recommend some music from r / jazz classical a song with piano so what blue in green".split()  # noqa: SIM905
WORDS += ["?", ".", ",", "slow", "fast"]
SIZES = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}


def word_tokenizer(kind: str) -> Any:
    """A tokenizer of whole words with the special tokens of BERT or MPNet."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    start, end, pad, unknown = (
        ("[CLS]", "[SEP]", "[PAD]", "[UNK]") if kind == "bert" else ("<s>", "</s>", "<pad>", "<unk>")
    )
    special = [pad, unknown, start, end] if kind == "bert" else [start, pad, end, unknown]
    vocabulary = {word: index for index, word in enumerate([*special, *WORDS, *"bcdefghijklmnopqrtuvwxyz0123456789"])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=unknown))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    pair = f"{start} $A {end} $B:1 {end}:1" if kind == "bert" else f"{start} $A {end} {end} $B {end}"
    ids = [(token, vocabulary[token]) for token in (start, end)]
    tokenizer.post_processor = processors.TemplateProcessing(single=f"{start} $A {end}", pair=pair, special_tokens=ids)
    names = ["input_ids", "token_type_ids", "attention_mask"] if kind == "bert" else ["input_ids", "attention_mask"]
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=pad,
        unk_token=unknown,
        cls_token=start,
        sep_token=end,
        model_input_names=names,
    )


def save(
    folder: Path,
    kind: str,
    head: str = "",
    labels: int = 1,
    pooling: str | None = "mean_tokens",
    answers: tuple[str, ...] = ("yes", "no"),
) -> Path:
    """A checkpoint.

    Args:
        folder: Where to save it.
        kind: bert, mpnet or qwen3.
        head: Empty for the bare model, else the end of the class, such as ForSequenceClassification.
        labels: Labels of a head.
        pooling: The mode that 1_Pooling states; None for no such file.
        answers: Words that are one token of a Qwen3. They count as control tokens, and no text keeps them.
    """
    import torch
    import transformers

    torch.manual_seed(3)
    if kind == "qwen3":
        tokenizer = tiny_tokenizer([*CHATML, *answers], eos_token="<|im_end|>", pad_token="<|endoftext|>")
        if not head:  # as Qwen3-Embedding: every text ends with the token whose state is its vector
            from tokenizers import processors

            end = ("<|endoftext|>", tokenizer.convert_tokens_to_ids("<|endoftext|>"))
            tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
                "$A <|endoftext|>", special_tokens=[end]
            )
        extra = {"num_key_value_heads": 2, "head_dim": 8, "max_position_embeddings": 2048}
        name = "Qwen3"
    else:
        tokenizer, extra = word_tokenizer(kind), {"max_position_embeddings": 66 if kind == "mpnet" else 64}
        name = {"bert": "Bert", "mpnet": "MPNet"}[kind]
    config = getattr(transformers, f"{name}Config")(
        vocab_size=len(tokenizer),
        pad_token_id=tokenizer.pad_token_id,
        num_labels=labels,
        initializer_range=0.4,
        **SIZES,
        **extra,
    )
    model = getattr(transformers, f"{name}{head or 'Model'}")(config)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    if pooling is not None and not head:
        (folder / "1_Pooling").mkdir()
        modes = {
            f"pooling_mode_{mode}": f"pooling_mode_{mode}" == f"pooling_mode_{pooling}"
            for mode in ("mean_tokens", "cls_token", "lasttoken")
        }
        (folder / "1_Pooling" / "config.json").write_text(json.dumps({"word_embedding_dimension": 32, **modes}))
    return folder
