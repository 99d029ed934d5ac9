"""Phi-4-multimodal of random weights, with a speech adapter in the files and under the names of the library peft."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.baselines.tiny_lm import tiny_tokenizer

RANK, ALPHA = 3, 6
# What the published adapter says that it changes.
_TARGETS = r"((layers.*self_attn\.(qkv|o)_proj)|(layers.*mlp\.(gate_up|down)_proj))"


def save_phi4_multimodal(folder: Path, *, switch: int = 4096) -> Path:
    """Phi-4-multimodal.

    Args:
        folder: Where to.
        switch: Tokens beyond which the other set of rotary factors is used.
    """
    import torch
    from transformers import Phi4MultimodalConfig, Phi4MultimodalFeatureExtractor, Phi4MultimodalForCausalLM

    special = ["<|endoftext|>", "<|end|>", "<|user|>", "<|assistant|>", "<|system|>", "<|image|>", "<|audio|>"]
    named = {"image_token": "<|image|>", "audio_token": "<|audio|>"}
    tokenizer = tiny_tokenizer(special, named, eos_token="<|endoftext|>", pad_token="<|endoftext|>")
    number = tokenizer.convert_tokens_to_ids
    limits = {
        "hidden_size": 32, "intermediate_size": 32, "num_blocks": 1, "num_attention_heads": 2, "nemo_conv_channels": 16,
        "ext_pw_out_channel": 32, "depthwise_separable_out_channel": 32, "audio_token_id": number("<|audio|>"),
    }  # fmt: skip
    eyes = {
        "hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2,
        "image_token_id": number("<|image|>"),
    }  # fmt: skip
    rotary = {
        "rope_type": "longrope",
        "rope_theta": 1e4,
        "short_factor": [1.0] * 4,
        "long_factor": [1.0, 2.0, 8.0, 32.0],
    }
    config = Phi4MultimodalConfig(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, pad_token_id=tokenizer.pad_token_id, bos_token_id=tokenizer.pad_token_id,
        eos_token_id=[number("<|endoftext|>"), number("<|end|>")], max_position_embeddings=131_072,
        original_max_position_embeddings=switch, rope_parameters=rotary, tie_word_embeddings=True,
        audio_config=limits, vision_config=eyes,
    )  # fmt: skip
    torch.manual_seed(0)
    model = Phi4MultimodalForCausalLM(config)
    model.save_pretrained(folder)
    Phi4MultimodalFeatureExtractor().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    _save_adapter(model, folder / "speech-lora")
    return folder


def _save_adapter(model: Any, folder: Path) -> None:
    import torch
    from safetensors.torch import save_file

    changes = {}
    for name, module in model.named_modules():
        if name.startswith("model.layers.") and name.endswith("_proj"):
            rows, columns = module.weight.shape
            changes[f"base_model.model.{name}.lora_A.weight"] = torch.randn(RANK, columns) / columns**0.5
            changes[f"base_model.model.{name}.lora_B.weight"] = torch.randn(rows, RANK) / RANK**0.5
    folder.mkdir()
    save_file(changes, folder / "adapter_model.safetensors")
    config = {"peft_type": "LORA", "r": RANK, "lora_alpha": ALPHA, "target_modules": _TARGETS, "use_rslora": False}
    (folder / "adapter_config.json").write_text(json.dumps(config), encoding="utf-8")
