"""Tiny language models of random weights, saved as the real ones are: a tokenizer trained on the spot, and sound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from musicrs_dataset.audio.cutting import Samples

# Titles that are hard to distinguish: one begins another, one is written twice in two scripts, one holds a line end.
NAMES = (
    "Slowdive - Alison", "Slowdive", "Björk – Hyperballad", "Sigur Rós - Ára bátur", "Boards of Canada - Roygbiv",
    "Slow", "A, B & C (Live)", "two\nlines", "Ноль", "\"Quoted\"", "a <|im_end|> b", "!!!",
)  # fmt: skip
_CORPUS = (
    "Rank these candidates from best to worst for the listener, by the music you hear and by what is asked for.",
    "Answer with the numbers of the candidates, best first, separated by commas, and with nothing else. 1, 2, 3, 4, 5",
    "user assistant system You are a helpful assistant. USER: ASSISTANT: Audio 1: Audio 2:",
    "Slowdive - Alison, Boards of Canada - Roygbiv, dreamy and slow with a lot of reverb",
)
CHATML = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")


def tiny_tokenizer(special: Sequence[str], named: Mapping[str, str] | None = None, **tokens: Any) -> Any:
    """A byte-level tokenizer, trained on a few sentences.

    Args:
        special: Its control tokens.
        named: Attribute to control token, such as {"audio_token": "<|AUDIO|>"}.
        tokens: `bos_token`, `eos_token`, `pad_token` and what else `PreTrainedTokenizerFast` takes.
    """
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=420 + len(special),
        special_tokens=[AddedToken(token, special=True, normalized=False) for token in special],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_CORPUS, trainer)
    tokens.setdefault("model_input_names", ["input_ids", "attention_mask"])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, extra_special_tokens=dict(named or {}), **tokens)


def tone(seconds: float, rate: int = 16_000, pitch: float = 220.0) -> Samples:
    """A tone with a little noise."""
    time = np.arange(int(seconds * rate)) / rate
    noise = np.random.default_rng(0).standard_normal(time.shape)
    return (0.3 * np.sin(2 * np.pi * pitch * time) + 0.01 * noise).astype(np.float32)


def save_qwen2_audio(folder: Path) -> Path:
    """Qwen2-Audio with the audio input of the real one, 30 s in 3,000 frames, and a tiny language model."""
    import torch
    from transformers import (
        Qwen2AudioConfig,
        Qwen2AudioEncoderConfig,
        Qwen2AudioForConditionalGeneration,
        Qwen2AudioProcessor,
        Qwen2Config,
        WhisperFeatureExtractor,
    )

    named = {"audio_token": "<|AUDIO|>", "audio_bos_token": "<|audio_bos|>", "audio_eos_token": "<|audio_eos|>"}
    tokenizer = tiny_tokenizer(
        [*CHATML, *named.values()], named, eos_token="<|im_end|>", pad_token="<|endoftext|>", padding_side="right"
    )
    extractor = WhisperFeatureExtractor(feature_size=16)
    text = Qwen2Config(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=8192, eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id, bos_token_id=None,
    )  # fmt: skip
    sound = Qwen2AudioEncoderConfig(
        num_mel_bins=16, encoder_layers=1, encoder_attention_heads=2, encoder_ffn_dim=32, d_model=32
    )
    config = Qwen2AudioConfig(
        audio_config=sound, text_config=text, audio_token_index=tokenizer.convert_tokens_to_ids("<|AUDIO|>")
    )
    torch.manual_seed(0)
    Qwen2AudioForConditionalGeneration(config).save_pretrained(folder)
    Qwen2AudioProcessor(feature_extractor=extractor, tokenizer=tokenizer).save_pretrained(folder)
    return folder
