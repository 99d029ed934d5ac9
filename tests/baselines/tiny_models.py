"""Models with few and random weights, written by `save_pretrained` as the published ones were."""

from __future__ import annotations

from pathlib import Path
from typing import Any

WORDS = ("Slow laments in the dark", "a fast and bright fanfare for brass", "dreamy music with drums, please")


def tiny_tokenizer(**options: Any) -> Any:
    """A byte-level tokenizer with the special tokens of RoBERTa."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=320, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(WORDS, trainer)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    names = {"bos": "<s>", "eos": "</s>", "pad": "<pad>", "unk": "<unk>", "mask": "<mask>", "cls": "<s>", "sep": "</s>"}
    named = {f"{name}_token": token for name, token in names.items()}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **named, **options)


def save_clap(folder: Path, *, fusion: bool = False, safe: bool = True, seed: int = 0) -> Path:
    """A CLAP model of some 200,000 weights, with its processor, in a folder; it takes 32 tokens."""
    import torch
    from transformers import ClapConfig, ClapFeatureExtractor, ClapModel, ClapProcessor

    tokenizer = tiny_tokenizer(model_max_length=32)
    text = {
        "vocab_size": len(tokenizer), "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2,
        "intermediate_size": 32, "max_position_embeddings": 34, "pad_token_id": 1,
    }  # fmt: skip
    audio = {
        "depths": [1, 1, 1, 1], "num_attention_heads": [1, 2, 2, 4], "patch_embeds_hidden_size": 16,
        "hidden_size": 128, "enable_fusion": fusion,
    }  # fmt: skip
    torch.manual_seed(seed)
    model = ClapModel(ClapConfig(text_config=text, audio_config=audio, projection_dim=24))
    extractor = ClapFeatureExtractor(truncation="fusion" if fusion else "rand_trunc")
    ClapProcessor(extractor, tokenizer).save_pretrained(folder)
    model.save_pretrained(folder)
    if not safe:  # as the published weights are
        torch.save(model.state_dict(), folder / "pytorch_model.bin")
        (folder / "model.safetensors").unlink()
    return folder
