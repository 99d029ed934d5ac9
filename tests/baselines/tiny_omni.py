"""Qwen2.5-Omni and Qwen3-Omni of random weights: whole checkpoints with what sees and what speaks, as published."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.baselines.tiny_lm import CHATML, tiny_tokenizer


def _tokenizer(marks: dict[str, str]) -> Any:
    named = {f"{name}_token": token for name, token in marks.items()}
    return tiny_tokenizer(
        [*CHATML, *named.values()], named, eos_token="<|im_end|>", pad_token="<|endoftext|>", padding_side="right"
    )


def _rotary(sections: list[int], **more: Any) -> dict[str, Any]:
    """Sections of time, height and width, which add up to half of a head of 8."""
    return {"rope_type": "default", "rope_theta": 1e6, "mrope_section": sections, **more}


def _words(tokenizer: Any, **more: Any) -> dict[str, Any]:
    """A language model of two layers."""
    return {
        "vocab_size": len(tokenizer), "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 32_768,
        "pad_token_id": tokenizer.pad_token_id, "eos_token_id": tokenizer.eos_token_id, **more,
    }  # fmt: skip


_EYES = {"depth": 1, "hidden_size": 16, "intermediate_size": 16, "num_heads": 2, "out_hidden_size": 32}
_EARS = {
    "num_mel_bins": 16, "encoder_layers": 1, "encoder_attention_heads": 2, "encoder_ffn_dim": 32, "d_model": 32,
    "n_window": 50, "output_dim": 32,
}  # fmt: skip


def save_qwen2_5_omni(folder: Path) -> Path:
    """Qwen2.5-Omni with talker and vocoder, and an extractor that fills clips up to 300 s as the real one does."""
    import torch
    from transformers import Qwen2_5OmniConfig, Qwen2_5OmniForConditionalGeneration, WhisperFeatureExtractor

    tokenizer = _tokenizer(
        {
            "image": "<|IMAGE|>", "audio": "<|AUDIO|>", "video": "<|VIDEO|>", "vision_bos": "<|vision_bos|>",
            "vision_eos": "<|vision_eos|>", "audio_bos": "<|audio_bos|>", "audio_eos": "<|audio_eos|>",
        }
    )  # fmt: skip
    number = tokenizer.convert_tokens_to_ids
    thinker = {
        "audio_config": {**_EARS, "max_source_positions": 64},
        "vision_config": {**_EYES, "fullatt_block_indexes": [0]},
        "text_config": _words(tokenizer, rope_parameters=_rotary([1, 1, 2])),
        "audio_token_index": number("<|AUDIO|>"), "image_token_index": number("<|IMAGE|>"),
        "video_token_index": number("<|VIDEO|>"), "audio_start_token_id": number("<|audio_bos|>"),
        "audio_end_token_id": number("<|audio_eos|>"), "vision_start_token_id": number("<|vision_bos|>"),
        "vision_end_token_id": number("<|vision_eos|>"),
    }  # fmt: skip
    talker = {
        "vocab_size": 32, "embedding_size": 32, "hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1,
        "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 8, "rope_parameters": _rotary([1, 1, 2]),
    }  # fmt: skip
    vocoder = {
        "dit_config": {
            "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "ff_mult": 1, "emb_dim": 8,
            "head_dim": 8, "num_embeds": 32, "mel_dim": 8, "enc_dim": 8, "enc_emb_dim": 8, "enc_channels": [8, 8],
            "enc_kernel_sizes": [3, 1], "enc_dilations": [1, 1], "enc_attention_channels": 4, "enc_res2net_scale": 2,
            "enc_se_channels": 4,
        },
        "bigvgan_config": {
            "mel_dim": 8, "upsample_initial_channel": 8, "resblock_kernel_sizes": [3],
            "resblock_dilation_sizes": [[1, 1, 1]], "upsample_rates": [2], "upsample_kernel_sizes": [4],
        },
    }  # fmt: skip
    torch.manual_seed(0)
    config = Qwen2_5OmniConfig(thinker_config=thinker, talker_config=talker, token2wav_config=vocoder)
    Qwen2_5OmniForConditionalGeneration(config).save_pretrained(folder)
    WhisperFeatureExtractor(feature_size=16, chunk_length=300).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def save_qwen3_omni(folder: Path) -> Path:
    """Qwen3-Omni with talker and vocoder. Each of its experts has its own keys."""
    import torch
    from transformers import Qwen3OmniMoeConfig, Qwen3OmniMoeForConditionalGeneration, WhisperFeatureExtractor

    tokenizer = _tokenizer(
        {
            "image": "<|image_pad|>", "audio": "<|audio_pad|>", "video": "<|video_pad|>",
            "vision_bos": "<|vision_start|>", "vision_eos": "<|vision_end|>", "audio_bos": "<|audio_start|>",
            "audio_eos": "<|audio_end|>",
        }
    )  # fmt: skip
    number = tokenizer.convert_tokens_to_ids
    rotary = _rotary([2, 1, 1], mrope_interleaved=True)
    experts = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16}
    thinker = {
        "audio_config": {**_EARS, "n_window_infer": 400, "downsample_hidden_size": 16},
        "vision_config": {**_EYES, "deepstack_visual_indexes": [0], "num_position_embeddings": 16},
        "text_config": _words(tokenizer, head_dim=8, rope_parameters=rotary, **experts),
        "audio_token_id": number("<|audio_pad|>"), "image_token_id": number("<|image_pad|>"),
        "video_token_id": number("<|video_pad|>"), "audio_start_token_id": number("<|audio_start|>"),
        "audio_end_token_id": number("<|audio_end|>"), "vision_start_token_id": number("<|vision_start|>"),
        "vision_end_token_id": number("<|vision_end|>"),
    }  # fmt: skip
    speech = {
        "vocab_size": 16, "hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2,
        "num_key_value_heads": 1, "head_dim": 8,
    }  # fmt: skip
    talker = {
        "code_predictor_config": {**speech, "num_code_groups": 2},
        "text_config": {
            **speech, "num_experts": 2, "num_experts_per_tok": 1, "moe_intermediate_size": 8,
            "shared_expert_intermediate_size": 8, "rope_parameters": rotary,
        },
        "num_code_groups": 2, "thinker_hidden_size": 32, "accept_hidden_layer": 1, "speaker_id": {"a": 1},
        "spatial_merge_size": 2,
    }  # fmt: skip
    vocoder = {
        "codebook_size": 8, "hidden_size": 8, "num_attention_heads": 2, "num_key_value_heads": 2,
        "intermediate_size": 8, "num_hidden_layers": 1, "num_quantizers": 2, "upsample_rates": [2],
        "upsampling_ratios": [2], "decoder_dim": 8,
    }  # fmt: skip
    torch.manual_seed(0)
    config = Qwen3OmniMoeConfig(
        thinker_config=thinker, talker_config=talker, code2wav_config=vocoder, enable_audio_output=True
    )
    Qwen3OmniMoeForConditionalGeneration(config).save_pretrained(folder)
    WhisperFeatureExtractor(feature_size=16).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
